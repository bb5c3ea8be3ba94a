"""Draw what the program sees: boxes, points, mesh, numbers and scores.

Source: own drawing on the faces of ``core.faces.analyse``; no model of its own.
In:  frame ``(H, W, 3)`` uint8 RGB, faces.   Out: the same size and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import cv2
import numpy as np
from pydantic import Field

from core.imaging.topology import topology
from core.registry import Applied, Processor, ProcessorOptions, register
from core.types import Face, Frame, Pixels

TEAL = (90, 204, 212)
DARK = (20, 32, 31)
WHITE = (255, 255, 255)
AMBER = (243, 197, 105)


class InspectOptions(ProcessorOptions):
    """What to draw."""

    boxes: bool = Field(default=True, title="Boxes", description="A frame round each face.")
    points: bool = Field(
        default=True, title="Points", description="Eyes, nose and corners of the mouth."
    )
    mesh: bool = Field(default=True, title="Mesh", description="The fine net over the face.")
    numbers: bool = Field(default=True, title="Numbers", description="From left to right.")
    scores: bool = Field(
        default=True, title="Scores", description="How sure the search and the mesh are, 0 to 1."
    )


@register
class Inspect(Processor):
    """Draws on every face given."""

    name = "inspect"
    title = "Show what is seen"
    order = 90
    Options: ClassVar[type[ProcessorOptions]] = InspectOptions

    def setup(self) -> None:
        """Nothing to load."""

    def apply(self, frame: Frame, faces: Sequence[Face]) -> Applied:
        """Draw ``faces`` in the given order; numbers count from 1."""
        assert isinstance(self.options, InspectOptions)
        if not faces or not any(self.options.model_dump().values()):
            return Applied(frame)
        pixels = frame.pixels.copy()
        for number, face in enumerate(faces, start=1):
            _draw(pixels, face, number if face.person is None else face.person, self.options)
        return Applied(replace(frame, pixels=pixels), tuple(range(len(faces))))


def _draw(pixels: Pixels, face: Face, number: int, options: InspectOptions) -> None:
    stroke = max(1, round(face.height_px / 120))
    if options.mesh and face.mesh is not None:
        corners = face.mesh[topology().triangles][:, :, :2]
        cv2.polylines(
            pixels,
            list(np.round(corners * 16).astype(np.int32)),
            True,
            TEAL,
            1,
            cv2.LINE_AA,
            shift=4,
        )
    if options.points:
        for x, y in face.points:
            cv2.circle(
                pixels, (round(float(x)), round(float(y))), 2 * stroke + 1, WHITE, -1, cv2.LINE_AA
            )
            cv2.circle(
                pixels, (round(float(x)), round(float(y))), 2 * stroke, AMBER, -1, cv2.LINE_AA
            )
    left, top, right, bottom = (round(float(edge)) for edge in face.box)
    if options.boxes:
        for colour, width in ((DARK, 3 * stroke + 2), (WHITE, 2 * stroke)):
            cv2.rectangle(pixels, (left, top), (right, bottom), colour, width, cv2.LINE_AA)
    lines = [str(number)] if options.numbers else []
    if options.scores:
        mesh = "" if face.mesh_score is None else f" mesh {face.mesh_score:.2f}"
        lines.append(f"{face.score:.2f}{mesh}")
    _write(pixels, "  ".join(lines), (left, top - 3 * stroke - 4), max(0.4, face.height_px / 400))


def _write(pixels: Pixels, text: str, at: tuple[int, int], scale: float) -> None:
    width = max(1, round(1.6 * scale))
    (_, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, width)
    at = (max(2, at[0]), max(height + 2, at[1]))
    for colour, extra in ((DARK, 3), (WHITE, 0)):
        cv2.putText(
            pixels, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, width + extra, cv2.LINE_AA
        )
