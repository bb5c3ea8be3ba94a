"""Put the face of the source photos onto the chosen faces.

Source: the built-in engine of ``core.swappers.textured_mesh``; it needs no download.
In:  frame ``(H, W, 3)`` uint8 RGB, faces with a mesh.   Out: the same size and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from core.faces.landmarks import MESH478
from core.imaging.blend import Patch, paste
from core.registry import Applied, Context, Processor, ProcessorOptions, register
from core.sentences import Sentence, say
from core.swappers.textured_mesh import MeshOptions, TexturedMesh
from core.types import Face, Frame

LEAST_CHANGE = 0.02
"""A patch whose mask never gets above this shows nothing; such a face counts as kept."""


class SwapOptions(ProcessorOptions):
    """The knobs of a swap. The defaults are what the figures in the docs were measured with."""

    likeness: float = Field(
        default=0.70,
        ge=0,
        le=1,
        title="Likeness",
        description=("Higher: more of the new face's shape. Lower: more of the original head."),
        json_schema_extra={"ui": "folded", "percent": True},
    )
    skin_tone: float = Field(
        default=0.85,
        ge=0,
        le=1,
        title="Skin tone match",
        description="Higher: skin follows the light in the picture.",
        json_schema_extra={"ui": "folded", "percent": True},
    )
    edge: float = Field(
        default=0.35,
        ge=0,
        le=1,
        title="Edge softness",
        description="Raise it if you can see an outline around the face.",
        json_schema_extra={"ui": "folded", "percent": True},
    )
    keep_mouth: bool = Field(
        default=True,
        title="Keep the original mouth",
        description="Keeps teeth, tongue and speech as they were.",
        json_schema_extra={"ui": "folded"},
    )
    keep_eyes: bool = Field(
        default=False,
        title="Keep the original eyes",
        description="Keeps where the person looks.",
        json_schema_extra={"ui": "folded"},
    )
    in_front: bool = Field(
        default=True,
        title="Hands stay in front",
        description="A hand in front of the face is not painted over.",
        json_schema_extra={"ui": "folded"},
    )
    poisson: bool = Field(
        default=False,
        title="Blend the light at the edge",
        description="Evens out the light where the new face meets the skin. A little slower.",
        json_schema_extra={"ui": "more"},
    )


@register
class Swap(Processor):
    """Changes each chosen face that shows enough of itself."""

    name = "swap"
    title = "Swap faces"
    order = 10
    models = (MESH478,)
    needs_source = True
    Options: ClassVar[type[ProcessorOptions]] = SwapOptions

    def __init__(self, options: ProcessorOptions, context: Context) -> None:
        super().__init__(options, context)
        self._swapper = TexturedMesh()

    def setup(self) -> None:
        """Prepare the identity from the source photos."""
        self._identity = self._swapper.prepare(self.context.sources)
        self._mesh_options = MeshOptions(**self.options.model_dump(exclude={"in_front"}))

    def apply(self, frame: Frame, faces: Sequence[Face]) -> Applied:
        """Swap every face of ``faces`` that has a mesh."""
        patches: list[Patch] = []
        changed: list[int] = []
        kept: dict[int, Sentence] = {}
        for position, face in enumerate(faces):
            patch = self._patch(frame, face)
            if patch is None:
                kept[position] = say("note.face_kept")
                continue
            patches.append(patch)
            changed.append(position)
        if not patches:
            return Applied(frame, kept=kept)
        pixels = paste(frame.pixels, patches)
        return Applied(replace(frame, pixels=pixels), tuple(changed), kept)

    def _patch(self, frame: Frame, face: Face) -> Patch | None:
        if face.mesh is None:
            return None
        assert isinstance(self.options, SwapOptions)
        if not self.options.in_front:
            face = replace(face, front=None)
        patch = self._swapper.swap(frame.pixels, face, self._identity, self._mesh_options)
        return patch if float(patch.mask.max(initial=0.0)) > LEAST_CHANGE else None
