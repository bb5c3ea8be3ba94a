"""The data that flows through: arrays, frames, faces, identities, and facts about models.

Everything here is frozen. Arrays inside are never written to after they were handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]
"""``(H, W, 3)`` uint8 RGB. One colour order in all of ``core``."""
Mask: TypeAlias = NDArray[np.float32]
"""``(H, W)`` float32, 0..1, 1 = take the new pixel."""
Points: TypeAlias = NDArray[np.float32]
"""``(N, 2)`` or ``(N, 3)`` float32 pixel coordinates of the frame; pixel centres at integers."""
Embedding: TypeAlias = NDArray[np.float32]
"""``(D,)`` float32."""
Array: TypeAlias = NDArray[Any]

LicenceKind = Literal["open", "private", "unknown"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a still (index 0, time 0) or a clip."""

    index: int
    time_s: Fraction
    pixels: Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """What lies in front of a face: ``mask`` ``(h, w)``, 1 = keep the target, at x0, y0."""

    x0: int
    y0: int
    mask: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """One face, in the coordinates of the frame it came from.

    ``box`` is x0, y0, x1, y1. ``points`` are eyes (image left, image right), nose tip, mouth
    corners (image left, right). ``mesh`` is ``(478, 3)``, z in pixels, smaller is nearer.
    ``embeddings`` by recogniser: ``descriptor1024`` (unit length, compare by cosine) and
    ``descriptor128`` (as it comes, compare by Euclidean distance). ``yaw_deg`` is positive when
    the face looks to the image's right; ``roll_deg`` is the in-plane turn, clockwise.
    ``front`` is what was found to lie in front of the face; ``covered`` is true when that hides
    more than a fiftieth of it.
    """

    box: NDArray[np.float32]
    points: Points
    score: float
    mesh: Points | None = None
    mesh_score: float | None = None
    embeddings: Mapping[str, Embedding] = field(default_factory=dict)
    age_years: float | None = None
    male: float | None = None
    yaw_deg: float | None = None
    roll_deg: float | None = None
    covered: bool = False
    front: Cover | None = None
    person: int | None = None

    @property
    def height_px(self) -> float:
        """Height of the box."""
        return float(self.box[3] - self.box[1])

    @property
    def area_px(self) -> float:
        """Area of the box."""
        return float((self.box[2] - self.box[0]) * (self.box[3] - self.box[1]))


@dataclass(frozen=True, slots=True, eq=False)
class SourceFace:
    """A face together with the photo it was found in."""

    pixels: Pixels
    face: Face


@dataclass(frozen=True, eq=False)
class Identity:
    """What source photos become for a swapper; each family subclasses it.

    ``embeddings`` are means over the photos. Prepared once per job, never per frame.
    """

    photos: int
    embeddings: Mapping[str, Embedding]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """Facts about one model, written in the file that runs it.

    ``file`` is a path inside ``repo`` on the Hub, or inside ``models/embedded`` when ``repo`` is
    None. ``sha256`` is None when nobody knows it; ``sha256_verified`` is False when it is only
    known from third parties. ``threads`` is for one session (small models are faster on one).
    """

    name: str
    title: str
    file: str
    repo: str | None
    size_bytes: int
    licence: str
    licence_kind: LicenceKind
    licence_url: str
    vendor: str
    year: int
    url: str
    revision: str = "main"
    sha256: str | None = None
    sha256_verified: bool = False
    threads: int = 1
    advice: str = ""

    @property
    def embedded(self) -> bool:
        """Whether the weights ship with the program."""
        return self.repo is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderReport:
    """Where one model really ran, and why there.

    Provider names are the short ones of ``core.runtime.providers`` (``cuda``, ``cpu`` ...).
    ``nodes`` counts graph nodes per provider. ``reason`` is empty when the best provider that was
    asked for was used; ``advice`` is the one thing that helps, possibly a command. ``reason_key``
    names the reason for translation and tests (``driver_missing``, ``library_missing`` ...).
    ``card`` is the graphics card of this computer as its driver calls it, used or not; empty when
    no driver tells.
    """

    model: str
    asked: str
    used: str
    nodes: Mapping[str, int]
    reason: str = ""
    reason_key: str = ""
    advice: str = ""
    command: str = ""
    device: str = ""
    card: str = ""
    fell_back: bool = False
    frame: int | None = None


class Session(Protocol):
    """A loaded model. May be called from several threads at once."""

    @property
    def report(self) -> ProviderReport:
        """Where it runs; changes when it had to move."""

    def load(self) -> None:
        """Load now instead of at the first run."""

    def run(self, inputs: Mapping[str, Array], *, picture: str | None = None) -> dict[str, Array]:
        """Outputs by name.

        ``picture`` names an output that is a picture: when it is black, constant or not finite
        the run is repeated elsewhere. UnusableOutput when nothing helps; ProviderError when
        nothing runs.
        """


OpenSession: TypeAlias = Callable[[ModelSpec], Session]
"""Gives the one shared session of a model, loading it when needed."""


DIGITAL_SOURCE_TYPE = (
    "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
)
"""IPTC's term for a picture that was partly made by a trained model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceRecord:
    """What an output must say about itself. Every writer asks for one."""

    title: str
    models: tuple[str, ...]
    actions: tuple[str, ...]
    label: bool = False
    digital_source_type: str = DIGITAL_SOURCE_TYPE
