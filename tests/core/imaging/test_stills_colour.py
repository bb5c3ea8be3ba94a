"""Depth, colour profiles and transparency of pictures, kept or converted (B-02, B-03)."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import ExifTags, Image, ImageChops

from core.imaging.stills import read_still, write_still
from core.safety.provenance import Provenance
from core.types import DIGITAL_SOURCE_TYPE, ProvenanceRecord

# ---- 16 bits -------------------------------------------------------------------------------


@pytest.fixture
def deep() -> np.ndarray:
    """Every value of the low byte occurs, so that cutting it off would show."""
    values = np.random.default_rng(7).integers(0, 65536, (96, 64, 4))
    return values.astype(np.uint16)


def stored(values: np.ndarray, path: Path) -> Path:
    order = [2, 1, 0, 3][: values.shape[2]] if values.ndim == 3 else slice(None)
    kept = values[:, :, order] if values.ndim == 3 else values
    path.write_bytes(cv2.imencode(path.suffix, np.ascontiguousarray(kept))[1].tobytes())
    return path


def values_in(path: Path) -> np.ndarray:
    found = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_UNCHANGED)
    return found[:, :, [2, 1, 0, 3][: found.shape[2]]]


@pytest.mark.parametrize("channels", [3, 4], ids=["RGB", "RGBA"])
@pytest.mark.parametrize("source", [".png", ".tiff"])
@pytest.mark.parametrize("result", [".png", ".tiff"])
def test_16_bits_come_back_exactly_where_nothing_changed(
    deep, tmp_path, write, channels, source, result
):
    deep = deep[:, :, :channels]
    still = read_still(stored(deep, tmp_path / f"in{source}"))
    np.testing.assert_array_equal(still.pixels, np.rint(deep[:, :, :3] / 257).astype(np.uint8))
    pixels = still.pixels.copy()
    pixels[10:20, 30:40] = 128
    done = write(still, pixels, tmp_path / f"out{result}")
    found = values_in(done.path)
    assert found.dtype == np.uint16
    changed = np.zeros(deep.shape[:2], bool)
    changed[10:20, 30:40] = True
    np.testing.assert_array_equal(found[~changed], deep[~changed])
    np.testing.assert_array_equal(found[:, :, 3:], deep[:, :, 3:])
    assert np.abs(found[changed][:, :3].astype(int) - 128 * 257).max() <= 257
    assert done.notices == ()


def test_16_bit_grey_is_kept(deep, tmp_path, write):
    still = read_still(stored(deep[:, :, 0], tmp_path / "in.png"))
    found = values_in(write(still, still.pixels, tmp_path / "out.png").path)
    np.testing.assert_array_equal(found, np.dstack([deep[:, :, 0]] * 3))


@pytest.mark.parametrize("result", [".jpg", ".webp", ".avif"])
def test_that_a_kind_of_file_cannot_hold_16_bits_is_said(deep, tmp_path, write, result):
    still = read_still(stored(deep[:, :, :3], tmp_path / "in.png"))
    done = write(still, still.pixels, tmp_path / f"out{result}")
    assert [notice.key for notice in done.notices] == ["note.depth"]


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def with_chunk(path: Path, added: bytes) -> Path:
    """``added`` between the header and the pixels of a PNG."""
    data = path.read_bytes()
    path.write_bytes(data[:33] + added + data[33:])
    return path


@pytest.mark.parametrize("channels", [1, 3], ids=["grey", "RGB"])
def test_a_transparent_16_bit_colour_is_transparent(deep, tmp_path, channels):
    values = deep[:, :, 0] if channels == 1 else deep[:, :, :3]
    key = struct.pack(f">{channels}H", *np.atleast_1d(values[5, 6]).tolist())
    path = with_chunk(stored(values, tmp_path / "in.png"), chunk(b"tRNS", key))
    still = read_still(path)
    expected = (values == values[5, 6]).reshape(*values.shape[:2], -1).all(axis=2)
    np.testing.assert_array_equal(still.alpha == 0, expected)


UPRIGHT = {
    1: lambda stored: stored,
    2: lambda stored: stored[:, ::-1],
    3: lambda stored: stored[::-1, ::-1],
    4: lambda stored: stored[::-1],
    5: lambda stored: stored.swapaxes(0, 1),
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: stored[::-1, ::-1].swapaxes(0, 1),
    8: lambda stored: np.rot90(stored),
}


@pytest.mark.parametrize("number", UPRIGHT)
@pytest.mark.parametrize("ending", [".png", ".tiff"])
def test_16_bits_turn_with_the_picture(deep, tmp_path, write, ending, number):
    path = stored(deep[:, :, :3], tmp_path / f"in{ending}")
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = number
    if ending == ".png":
        with_chunk(path, chunk(b"eXIf", exif.tobytes().removeprefix(b"Exif\0\0")))
    else:
        add_tag(path, ExifTags.Base.Orientation, number)
    still = read_still(path)
    found = values_in(write(still, still.pixels, tmp_path / f"out{ending}").path)
    np.testing.assert_array_equal(found, UPRIGHT[number](deep[:, :, :3]))


def add_tag(path: Path, tag: int, value: int) -> None:
    """Set or add a short number in the first directory of a little-endian TIFF."""
    data = path.read_bytes()
    assert data[:2] == b"II"
    start = struct.unpack("<I", data[4:8])[0]
    count = struct.unpack("<H", data[start : start + 2])[0]
    rows = [data[start + 2 + 12 * at : start + 14 + 12 * at] for at in range(count)]
    rows = [row for row in rows if struct.unpack("<H", row[:2])[0] != tag]
    rows = sorted([*rows, struct.pack("<HHIHH", tag, 3, 1, value, 0)], key=lambda row: row[1::-1])
    data += b"\0" * (len(data) % 2)
    directory = struct.pack("<H", len(rows)) + b"".join(rows) + b"\0\0\0\0"
    path.write_bytes(data[:4] + struct.pack("<I", len(data)) + data[8:] + directory)


@pytest.mark.parametrize("ending", [".png", ".tiff"])
@pytest.mark.parametrize("depth", [8, 16])
def test_the_real_mark_fits_every_depth(deep, tmp_path, ending, depth):
    values = deep[:, :, :3] if depth == 16 else (deep[:, :, :3] >> 8).astype(np.uint8)
    still = read_still(stored(values, tmp_path / "in.png"))
    provenance = Provenance(tmp_path / "keys")
    record = ProvenanceRecord(title="a", models=("m",), actions=("swap",))
    done = write_still(
        still,
        still.pixels,
        tmp_path / f"out{ending}",
        source_type=DIGITAL_SOURCE_TYPE,
        mark=provenance.marker(record),
    )
    assert provenance.verify(done.path).state == "ours"
    np.testing.assert_array_equal(values_in(done.path), values)


# ---- real-valued colour --------------------------------------------------------------------


def test_a_real_valued_colour_tiff_is_read(tmp_path):
    values = np.random.default_rng(1).random((40, 50, 3)).astype(np.float32)
    values[0, 0] = np.nan
    still = read_still(stored(values, tmp_path / "in.tiff"))
    np.testing.assert_array_equal(still.pixels, np.rint(np.nan_to_num(values) * 255))


@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_do_not_blacken_a_grey_picture(tmp_path, worst):
    values = np.full((40, 40), 0.5, np.float32)
    values[0, 0] = worst
    Image.fromarray(values).save(tmp_path / "in.tiff")
    assert read_still(tmp_path / "in.tiff").pixels[20, 20].tolist() in ([128] * 3, [255] * 3)


# ---- profiles ------------------------------------------------------------------------------

P3 = np.array(
    [[0.51512, 0.29198, 0.1571], [0.2412, 0.69225, 0.06657], [-0.00105, 0.04189, 0.78407]]
)
SRGB = np.array(
    [[0.43607, 0.38515, 0.14307], [0.22249, 0.71687, 0.06061], [0.01392, 0.09708, 0.7141]]
)
"""Red, green and blue in XYZ (D50). Source: Display P3 and sRGB as published by color.org."""
GAMMA = 2.2


def fixed(*values: float) -> bytes:
    return b"".join(struct.pack(">i", round(value * 65536)) for value in values)


def profile(kind: bytes, space: bytes, pcs: bytes, tags: dict[bytes, bytes]) -> bytes:
    """An ICC profile, version 2. Source: ICC.1:2001-04."""
    tags = {name: data + b"\0" * (-len(data) % 4) for name, data in tags.items()}
    at = 128 + 4 + 12 * len(tags)
    table = struct.pack(">I", len(tags))
    for name, data in tags.items():
        table += name + struct.pack(">II", at, len(data))
        at += len(data)
    head = struct.pack(">I4sI4s4s4s12x4s28x", at, b"test", 0x02400000, kind, space, pcs, b"acsp")
    head += fixed(0.9642, 1.0, 0.8249)
    return head.ljust(128, b"\0") + table + b"".join(tags.values())


def display_p3() -> bytes:
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(GAMMA * 256))
    colours = {
        name: b"XYZ \0\0\0\0" + fixed(*P3[:, at])
        for at, name in enumerate((b"rXYZ", b"gXYZ", b"bXYZ"))
    }
    curves = dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve)
    white = {b"wtpt": b"XYZ \0\0\0\0" + fixed(0.9642, 1.0, 0.8249)}
    return profile(b"mntr", b"RGB ", b"XYZ ", white | colours | curves)


def only_black_ink_counts() -> bytes:
    """A CMYK profile in which cyan, magenta and yellow print nothing."""
    straight = bytes(range(256))
    corners = bytes(
        value for at in range(16) for value in ((0, 128, 128) if at % 2 else (255, 128, 128))
    )
    table = b"mft1\0\0\0\0" + bytes([4, 3, 2, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    table += straight * 4 + corners + straight * 3
    return profile(b"prtr", b"CMYK", b"Lab ", {b"A2B0": table})


def p3_as_srgb(colours: np.ndarray) -> np.ndarray:
    linear = (colours / 255.0) ** GAMMA
    seen = np.clip(linear @ (np.linalg.inv(SRGB) @ P3).T, 0, 1)
    coded = np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)
    return coded * 255


@pytest.mark.parametrize("ending", [".png", ".jpg", ".webp", ".avif", ".tiff", ".heic"])
def test_display_p3_becomes_srgb_in_every_kind_of_file(tmp_path, ending):
    colours = np.full((64, 64, 3), (180, 90, 60), np.uint8)
    path = tmp_path / f"in{ending}"
    Image.fromarray(colours).save(path, icc_profile=display_p3(), quality=100)
    still = read_still(path)
    expected = p3_as_srgb(colours)
    assert np.abs(expected - colours).max() > 10  # the test would see a profile ignored
    assert np.abs(still.pixels - expected).max() <= 3


@pytest.mark.parametrize("mode", ["RGBA", "P", "L"])
def test_a_profile_counts_in_every_colour_mode_and_leaves_alpha_alone(tmp_path, mode):
    picture = Image.new("RGB", (64, 64), (180, 90, 60))
    picture = picture.convert("L").convert("RGB") if mode == "L" else picture
    expected = p3_as_srgb(np.asarray(picture))
    picture = picture.quantize(4) if mode == "P" else picture.convert(mode)
    if mode == "RGBA":
        picture.putalpha(Image.linear_gradient("L").resize((64, 64)))
    picture.save(tmp_path / "in.png", icc_profile=display_p3())
    still = read_still(tmp_path / "in.png")
    assert np.abs(still.pixels - expected).max() <= 2
    if mode == "RGBA":
        np.testing.assert_array_equal(still.alpha, np.asarray(picture)[:, :, 3])


def test_a_result_of_a_picture_with_a_profile_says_srgb(tmp_path, write):
    Image.new("RGB", (64, 64), (180, 90, 60)).save(tmp_path / "in.png", icc_profile=display_p3())
    still = read_still(tmp_path / "in.png")
    again = read_still(write(still, still.pixels, tmp_path / "out.png").path)
    with Image.open(tmp_path / "out.png") as out:
        assert out.info["icc_profile"] != display_p3()
    np.testing.assert_array_equal(again.pixels, still.pixels)


def test_16_bits_in_another_profile_are_converted_and_said(deep, tmp_path, write):
    path = stored(deep[:, :, :3], tmp_path / "in.png")
    with_chunk(path, chunk(b"iCCP", b"p3\0\0" + zlib.compress(display_p3())))
    still = read_still(path)
    assert np.abs(still.pixels - p3_as_srgb(deep[:, :, :3] / 257)).mean() < 2
    done = write(still, still.pixels, tmp_path / "out.png")
    assert [notice.key for notice in done.notices] == ["note.depth"]


# ---- CMYK ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".jpg", ".tiff"])
def test_a_cmyk_profile_is_used_and_the_change_said(tmp_path, ending):
    path = tmp_path / f"in{ending}"
    Image.new("CMYK", (64, 64), (255, 0, 0, 0)).save(path, icc_profile=only_black_ink_counts())
    still = read_still(path)
    assert still.pixels.min() >= 250  # without the profile it would be cyan
    assert [notice.key for notice in still.notices] == ["note.cmyk"]


def test_cmyk_that_adobe_did_not_store_is_not_turned_inside_out(upright, tmp_path):
    inks = upright.convert("CMYK")
    data = io.BytesIO()
    ImageChops.invert(inks).save(data, "JPEG", quality=97)
    adobe = data.getvalue().index(b"\xff\xee")
    length = int.from_bytes(data.getvalue()[adobe + 2 : adobe + 4], "big")
    path = tmp_path / "in.jpg"
    path.write_bytes(data.getvalue()[:adobe] + data.getvalue()[adobe + 2 + length :])
    expected = np.asarray(inks.convert("RGB"), int)
    assert np.abs(read_still(path).pixels - expected).mean() < 3


# ---- transparency --------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".png", ".webp", ".avif", ".tiff"])
@pytest.mark.parametrize("quality", [40, 92])
def test_alpha_is_exact_at_any_quality(upright, tmp_path, write, ending, quality):
    alpha = np.random.default_rng(3).integers(0, 256, (512, 400)).astype(np.uint8)
    picture = upright.convert("RGBA")
    picture.putalpha(Image.fromarray(alpha))
    picture.save(tmp_path / "in.png")
    still = read_still(tmp_path / "in.png")
    done = write(still, still.pixels, tmp_path / f"out{ending}", quality=quality)
    np.testing.assert_array_equal(read_still(done.path).alpha, alpha)


@pytest.mark.parametrize("ending", [".png", ".webp", ".avif", ".tiff"])
def test_an_alpha_that_hides_nothing_is_no_reason_to_fail(upright, tmp_path, write, ending):
    upright.convert("RGBA").save(tmp_path / "in.png")
    still = read_still(tmp_path / "in.png")
    assert write(still, still.pixels, tmp_path / f"out{ending}").path.is_file()


@pytest.mark.parametrize("ending", [".png", ".tiff"])
def test_untouched_pixels_come_back_exactly(upright, tmp_path, write, ending):
    upright.save(tmp_path / "in.png")
    still = read_still(tmp_path / "in.png")
    pixels = still.pixels.copy()
    pixels[200:260, 100:180] = 0
    found = read_still(write(still, pixels, tmp_path / f"out{ending}").path)
    np.testing.assert_array_equal(found.pixels, pixels)
