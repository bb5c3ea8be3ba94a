"""Everything about the faces of one frame, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.faces import detect, embed, hands, landmarks
from core.faces.embed import Embedder
from core.faces.hands import HandFinder
from core.faces.landmarks import FIVE_POINTS, LEAST_SCORE, Landmarker, Mesh, box_of_mesh
from core.faces.regions import COVERED_SHARE, front_of, share_of_oval
from core.faces.search import Found, Searcher
from core.faces.select import left_to_right
from core.types import Face, OpenSession, Pixels

MODELS = (*detect.MODELS, landmarks.MESH478, *embed.MODELS, *hands.MODELS)


class Analyser:
    """Finds, fits and describes faces. Threads may share one."""

    def __init__(self, open_session: OpenSession) -> None:
        self._landmarker = Landmarker(open_session)
        self._searcher = Searcher(open_session, self._landmarker)
        self._embedder = Embedder(open_session)
        self._hands = HandFinder(open_session)

    def analyse(
        self, pixels: Pixels, *, thorough: bool = True, embed: bool = True, hands: bool = False
    ) -> tuple[Face, ...]:
        """The faces of ``pixels``, left to right; empty when there is none.

        ``thorough`` finds turned and tiny ones too, for stills. ``embed`` adds embeddings, age
        and sex. ``hands`` looks for hands in front of each face.
        """
        search = self._searcher.thorough if thorough else self._searcher.quick
        faces = left_to_right([_face(found) for found in search(pixels)])
        if embed:
            faces = tuple(self._described(pixels, face) for face in faces)
        if hands:
            faces = tuple(self._uncovered(pixels, face) for face in faces)
        return faces

    def track(self, pixels: Pixels, previous: Sequence[Face]) -> tuple[Face, ...]:
        """Where ``previous`` faces are now, without a search; lost ones are left out.

        Embeddings, age and person number are carried over; what lay in front is not.
        """
        tracked = []
        for face in previous:
            if face.mesh is None:
                continue
            mesh = self._landmarker.follow(pixels, face.mesh)
            if mesh.score >= LEAST_SCORE:
                tracked.append(_moved(face, mesh))
        return left_to_right(tracked)

    def _described(self, pixels: Pixels, face: Face) -> Face:
        assert face.mesh is not None
        said = self._embedder.describe(pixels, face.mesh)
        return replace(face, embeddings=said.embeddings, age_years=said.age_years, male=said.male)

    def _uncovered(self, pixels: Pixels, face: Face) -> Face:
        assert face.mesh is not None
        front = front_of(pixels, face.mesh, self._hands.find(pixels, face.mesh))
        if front is None:
            return face
        covered = share_of_oval(front, face.mesh) > COVERED_SHARE
        return replace(face, front=front, covered=covered)


def _face(found: Found) -> Face:
    blank = Face(
        box=np.empty(4, np.float32), points=np.empty((5, 2), np.float32), score=found.score
    )
    return _moved(blank, found.mesh)


def _moved(face: Face, mesh: Mesh) -> Face:
    yaw, roll = landmarks.pose(mesh.points)
    return replace(
        face,
        box=box_of_mesh(mesh.points),
        points=np.ascontiguousarray(mesh.points[list(FIVE_POINTS), :2]),
        mesh=mesh.points,
        mesh_score=mesh.score,
        yaw_deg=yaw,
        roll_deg=roll,
        covered=False,
        front=None,
    )
