"""Describe faces by numbers, to tell people apart.

Source: HSE-FaceRes (A. V. Savchenko, HSE_FaceRec_tf, 2019; trained on VGGFace2), weights from
@vladmandic/human 3.3.6, Apache-2.0; dlib's face recognition ResNet (D. King, 2017), weights from
@vladmandic/face-api 1.7.15, public domain. Neither is meant for security.
In:  a frame and a mesh.   Out: ``descriptor1024`` (unit length), ``descriptor128``, age, sex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.faces.landmarks import roi_of_mesh
from core.imaging.geometry import crop, cut, similarity_matrix
from core.types import Embedding, Face, ModelSpec, OpenSession, Pixels, Points

DESCRIPTOR1024 = ModelSpec(
    name="face_descriptor1024",
    title="Likeness, age and sex",
    file="face_descriptor1024.onnx",
    repo=None,
    size_bytes=7_009_316,
    sha256="220bb564b65e8b8683b5cb63e3513779f6159dc04e18481d793f11083d06a034",
    sha256_verified=True,
    licence="Apache-2.0",
    licence_kind="open",
    licence_url="https://github.com/av-savchenko/HSE_FaceRec_tf/blob/master/LICENSE",
    vendor="A. V. Savchenko, HSE University",
    year=2019,
    url="https://github.com/av-savchenko/HSE_FaceRec_tf",
    threads=2,
)
DESCRIPTOR128 = ModelSpec(
    name="face_descriptor128",
    title="Likeness of the inner face",
    file="face_descriptor128.onnx",
    repo=None,
    size_bytes=5_930_863,
    sha256="6d9052078bb94d1ee9c5391539d0aa62cbd1e16453c04fb588a4774be158c558",
    sha256_verified=True,
    licence="CC0-1.0",
    licence_kind="open",
    licence_url="https://github.com/davisking/dlib-models/blob/master/LICENSE",
    vendor="Davis King, dlib",
    year=2017,
    url="https://github.com/davisking/dlib-models",
    threads=2,
)
MODELS = (DESCRIPTOR1024, DESCRIPTOR128)

SAME_COSINE = 0.60
"""descriptor1024: at or above this, one person (2 of 319 different pairs exceed the worst pair)."""
SAME_DISTANCE = 0.50
"""descriptor128: at or below this, one person."""

CROP_1024 = 224
ROI_FACTOR_1024 = 1.3
IMAGENET_MEAN_BGR = np.array([103.939, 116.779, 123.68], np.float32)
CHIP = 150
CHIP_POINTS = (263, 362, 33, 133, 2)
CHIP_PLACES = np.array(
    [[110.96, 46.35], [89.61, 47.90], [37.06, 46.37], [58.41, 47.91], [74.01, 87.78]]
)
AGES = np.arange(100, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """What the nets say about one face. ``male`` is a probability."""

    embeddings: dict[str, Embedding]
    age_years: float
    male: float


class Embedder:
    """Runs both nets. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._open = open_session

    def describe(self, pixels: Pixels, mesh: Points) -> Description:
        """Both descriptors, age and sex of the face under ``mesh`` ``(478, 3)``."""
        wide, age, male = self._wide(pixels, mesh)
        return Description(
            {"descriptor1024": wide, "descriptor128": self.inner(pixels, mesh)}, age, male
        )

    def inner(self, pixels: Pixels, mesh: Points) -> Embedding:
        """descriptor128 of the inner face, averaged with its mirror image."""
        to_frame = similarity_matrix(CHIP_PLACES, mesh[list(CHIP_POINTS), :2])
        chip = cut(pixels, to_frame, CHIP)
        pair = np.stack([chip, chip[:, ::-1]]).transpose(0, 3, 1, 2).astype(np.float32)
        out = self._open(DESCRIPTOR128).run({"image": np.ascontiguousarray(pair)})
        return np.asarray(out["descriptor"].mean(0), np.float32)

    def _wide(self, pixels: Pixels, mesh: Points) -> tuple[Embedding, float, float]:
        square = roi_of_mesh(mesh, factor=ROI_FACTOR_1024)
        cut = crop(pixels, square, CROP_1024)[:, :, ::-1].astype(np.float32) - IMAGENET_MEAN_BGR
        out = self._open(DESCRIPTOR1024).run({"image": cut[None]})
        raw = out["descriptor"][0]
        unit = raw / max(float(np.linalg.norm(raw)), 1e-9)
        age = float((out["age"][0] * AGES).sum())
        return np.asarray(unit, np.float32), age, float(out["gender"][0, 0])


def cosine(one: Embedding, other: Embedding) -> float:
    """Cosine of two unit vectors: 1 same direction, 0 nothing in common."""
    return float(one @ other)


def distance(one: Embedding, other: Embedding) -> float:
    """Euclidean distance."""
    return float(np.linalg.norm(one - other))


def same_person(one: Face, other: Face) -> bool:
    """Whether two faces with embeddings show one person, as far as the wide net can tell."""
    name = "descriptor1024"
    return cosine(one.embeddings[name], other.embeddings[name]) >= SAME_COSINE
