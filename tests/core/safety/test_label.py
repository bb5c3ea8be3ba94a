"""Marks that people can see."""

from __future__ import annotations

import numpy as np
import pytest

from core.safety.label import draw_label, draw_preview_mark


@pytest.mark.parametrize("tone", [0, 128, 255], ids=["black", "grey", "white"])
@pytest.mark.parametrize("size", [(64, 64), (512, 512), (2000, 3000)])
def test_the_label_can_be_read_on_any_ground_and_touches_only_its_corner(tone, size):
    picture = np.full((*size, 3), tone, np.uint8)
    out = draw_label(picture)
    assert picture.min() == picture.max() == tone
    changed = (out != picture).any(2)
    rows, columns = np.nonzero(changed)
    plate = out[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    assert int(plate.max()) - int(plate.min()) > 120
    assert rows.min() > size[0] * 0.6
    assert columns.max() < size[1] * 0.8 or size[1] < 100


def test_a_preview_is_marked_everywhere(astronaut):
    out = draw_preview_mark(astronaut)
    assert out.shape == astronaut.shape
    changed = (out != astronaut).any(2)
    for rows in np.array_split(changed, 4):
        for part in np.array_split(rows, 4, axis=1):
            assert part.any()
