"""Pictures in every kind of file (cases B-01 to B-05), read, written and read again."""

from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import ExifTags, Image, ImageCms, PngImagePlugin

from core.errors import AppError, MediaError, OptionError, UnreadableMedia
from core.imaging.metadata import source_type_of, xmp_of
from core.imaging.stills import BY_NAME, format_for, output_name, read_still, write_still
from core.types import DIGITAL_SOURCE_TYPE

SIZE = (400, 512)


def mark(plain: Path, signed: Path) -> str:
    """Stands in for signing."""
    shutil.copy(plain, signed)
    return "marked"


def write(still, pixels, path, **more):
    return write_still(still, pixels, path, source_type=DIGITAL_SOURCE_TYPE, mark=mark, **more)


def saved(picture: Image.Image, path: Path, **options) -> Path:
    picture.save(path, **options)
    return path


def error_levels(one: np.ndarray, other: np.ndarray) -> float:
    assert one.shape == other.shape
    return float(np.abs(one.astype(int) - other.astype(int)).mean())


# ---- B-01 orientation ----------------------------------------------------------------------

BACK = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@pytest.fixture(params=BACK, ids=[f"orientation {number}" for number in BACK])
def turned(request, upright, tmp_path) -> Path:
    stored = upright if BACK[request.param] is None else upright.transpose(BACK[request.param])
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = request.param
    return saved(stored, tmp_path / "turned.jpg", quality=95, subsampling=0, exif=exif)


def test_every_orientation_is_read_upright_and_written_upright(turned, upright, tmp_path):
    still = read_still(turned)
    assert still.pixels.shape == (512, 400, 3)
    assert error_levels(still.pixels, np.asarray(upright)) < 3
    out = write(still, still.pixels, tmp_path / "out.jpg").path
    with Image.open(out) as again:
        assert again.size == SIZE
        assert again.getexif().get(ExifTags.Base.Orientation, 1) == 1


@pytest.mark.parametrize("number", BACK)
@pytest.mark.parametrize("kind", ["PNG", "WEBP", "AVIF", "TIFF", "HEIF"])
def test_every_kind_of_file_is_turned_upright_once(upright, tmp_path, kind, number):
    stored = upright if BACK[number] is None else upright.transpose(BACK[number])
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = number
    if kind == "HEIF":  # phones store the turn in the container; the encoder reads it from here
        stored = stored.copy()
        stored.info["exif"] = exif.tobytes()
        path = saved(stored, tmp_path / "in", format=kind, quality=95)
    else:
        path = saved(stored, tmp_path / "in", format=kind, exif=exif, quality=95)
    assert error_levels(read_still(path).pixels, np.asarray(upright)) < 3


def test_every_orientation_gives_the_same_face(turned, upright, engine):
    expected = engine.analyse(np.asarray(upright), embed=False)[0].box
    found = engine.analyse(read_still(turned).pixels, embed=False)
    assert len(found) == 1
    np.testing.assert_allclose(found[0].box, expected, atol=2)


def test_alpha_turns_with_the_picture(upright, tmp_path):
    picture = upright.convert("RGBA")
    alpha = Image.linear_gradient("L").resize(SIZE)
    picture.putalpha(alpha)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    stored = picture.transpose(Image.Transpose.ROTATE_90)
    still = read_still(saved(stored, tmp_path / "a.png", exif=exif))
    np.testing.assert_array_equal(still.alpha, np.asarray(alpha))


# ---- B-02 transparency ---------------------------------------------------------------------


def banded(upright: Image.Image) -> Image.Image:
    picture = upright.convert("RGBA")
    alpha = np.zeros((512, 400), np.uint8)
    alpha[170:340], alpha[340:] = 128, 255
    picture.putalpha(Image.fromarray(alpha))
    return picture


def palette(upright: Image.Image) -> Image.Image:
    return upright.quantize(64)


@pytest.mark.parametrize("ending", [".png", ".webp", ".avif", ".tiff"])
def test_alpha_comes_back_byte_for_byte(upright, tmp_path, ending):
    still = read_still(saved(banded(upright), tmp_path / "in.png"))
    changed = 255 - still.pixels
    out = read_still(write(still, changed, tmp_path / f"out{ending}", quality=100).path)
    np.testing.assert_array_equal(out.alpha, still.alpha)


def test_a_transparent_palette_colour_is_kept(upright, tmp_path):
    picture = palette(upright)
    still = read_still(saved(picture, tmp_path / "p.png", transparency=0))
    np.testing.assert_array_equal(still.alpha == 0, np.asarray(picture) == 0)
    out = read_still(write(still, still.pixels, tmp_path / "out.png").path)
    np.testing.assert_array_equal(out.alpha, still.alpha)


def test_grey_with_alpha_is_kept(upright, tmp_path):
    picture = banded(upright).convert("LA")
    still = read_still(saved(picture, tmp_path / "la.png"))
    np.testing.assert_array_equal(still.alpha, np.asarray(picture)[:, :, 1])
    np.testing.assert_array_equal(still.pixels[:, :, 0], np.asarray(picture)[:, :, 0])


def test_a_jpeg_gets_a_white_background_and_says_so(upright, tmp_path):
    still = read_still(saved(banded(upright), tmp_path / "in.png"))
    done = write(still, still.pixels, tmp_path / "out.jpg", quality=95)
    assert [notice.key for notice in done.notices] == ["note.alpha"]
    assert read_still(done.path).pixels[:160].min() >= 250


# ---- B-03 colour modes, formats, sizes -----------------------------------------------------


def png16(upright: Image.Image, path: Path) -> Path:
    wide = np.asarray(upright)[:, :, ::-1].astype(np.uint16) * 257
    path.write_bytes(cv2.imencode(".png", wide)[1].tobytes())
    return path


def tiff16(upright: Image.Image, path: Path) -> Path:
    wide = np.asarray(upright)[:, :, ::-1].astype(np.uint16) * 257
    path.write_bytes(cv2.imencode(".tiff", wide)[1].tobytes())
    return path


MAKERS = {
    "cmyk.jpg": lambda p, f: saved(p.convert("CMYK"), f, quality=97),
    "cmyk.tiff": lambda p, f: saved(p.convert("CMYK"), f),
    "deep.png": png16,
    "deep.tiff": tiff16,
    "plain.webp": lambda p, f: saved(p, f, quality=95),
    "plain.avif": lambda p, f: saved(p, f, quality=95),
    "phone.heic": lambda p, f: saved(p, f, quality=95),
    "plain.bmp": saved,
    "plain.tiff": saved,
    "png named.jpg": lambda p, f: saved(p, f, format="PNG"),
    "jpeg named.png": lambda p, f: saved(p, f, format="JPEG", quality=97),
    "no ending": lambda p, f: saved(p, f, format="PNG"),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_kind_of_file_shows_the_same_picture(upright, tmp_path, name):
    still = read_still(MAKERS[name](upright, tmp_path / name))
    assert error_levels(still.pixels, np.asarray(upright)) < 3


GREYS = {
    "8 bit": lambda grey: Image.fromarray(grey),
    "1 bit": lambda grey: Image.fromarray(grey).convert("1"),
    "16 bit": lambda grey: Image.fromarray(grey.astype(np.uint16) * 257),
    "32 bit": lambda grey: Image.fromarray(grey.astype(np.int32) * 257),
    "real": lambda grey: Image.fromarray(grey.astype(np.float32) / 255),
}


@pytest.mark.parametrize("depth", GREYS)
def test_grey_of_any_depth_is_read(upright, tmp_path, depth):
    grey = np.asarray(upright.convert("L"))
    still = read_still(saved(GREYS[depth](grey), tmp_path / "grey.tiff"))
    wanted = np.where(grey > 127, 255, 0) if depth == "1 bit" else grey
    limit = 40 if depth == "1 bit" else 1  # one bit is dithered
    assert abs(float(still.pixels.mean()) - float(wanted.mean())) < limit
    assert still.pixels.shape == (512, 400, 3)


@pytest.mark.parametrize("kind", ["WEBP", "GIF", "PNG"])
def test_of_an_animation_the_first_picture_is_used_and_said(upright, tmp_path, kind):
    more = [upright.rotate(30 * turn) for turn in range(1, 6)]
    path = tmp_path / f"moving.{kind.lower()}"
    upright.save(path, kind, save_all=True, append_images=more, quality=95)
    still = read_still(path)
    assert still.frames == 6
    assert [notice.key for notice in still.notices] == ["note.animated"]
    assert error_levels(still.pixels, np.asarray(upright)) < 8


def test_a_wide_colour_profile_is_converted(tmp_path):
    lab = ImageCms.createProfile("LAB")
    picture = Image.new("RGB", (64, 64), (200, 40, 40))
    as_lab = ImageCms.profileToProfile(
        picture, ImageCms.createProfile("sRGB"), lab, outputMode="LAB"
    )
    profile = ImageCms.ImageCmsProfile(lab).tobytes()
    still = read_still(saved(as_lab, tmp_path / "lab.tiff", icc_profile=profile))
    assert error_levels(still.pixels, np.asarray(picture)) < 3


def test_a_damaged_profile_does_not_lose_the_picture(upright, tmp_path):
    path = saved(upright, tmp_path / "bad.png", icc_profile=b"no profile at all")
    assert error_levels(read_still(path).pixels, np.asarray(upright)) == 0


def text_file(folder: Path) -> Path:
    path = folder / "letter.png"
    path.write_text("Dear reader")
    return path


def cut_file(folder: Path) -> Path:
    data = io.BytesIO()
    Image.effect_noise((300, 300), 90).convert("RGB").save(data, "JPEG")
    path = folder / "cut.jpg"
    path.write_bytes(data.getvalue()[: len(data.getvalue()) // 2])
    return path


def one_pixel(folder: Path) -> Path:
    return saved(Image.new("RGB", (1, 1)), folder / "dot.png")


def huge(folder: Path) -> Path:
    return saved(Image.new("L", (12_000, 9_000)), folder / "huge.png")


def empty(folder: Path) -> Path:
    (folder / "empty.png").touch()
    return folder / "empty.png"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (text_file, "letter.png cannot be read: it is not a picture we know"),
        (cut_file, "cut.jpg ends too early"),
        (one_pixel, "dot.png is too small"),
        (huge, "The limit here is 100 megapixels"),
        (empty, "empty.png ends too early"),
        (lambda folder: folder / "nowhere.png", "nowhere.png is not there"),
        (lambda folder: folder, "cannot be read"),
    ],
    ids=["text", "cut", "one pixel", "huge", "empty", "missing", "folder"],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(tmp_path, make, says):
    with pytest.raises(UnreadableMedia) as caught:
        read_still(make(tmp_path), max_megapixels=100)
    assert says in str(caught.value)
    assert caught.value.hint


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "big.png"
    with path.open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(UnreadableMedia, match=r"300 MB.*limit here is 200 MB"):
        read_still(path)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damage_never_ends_in_anything_but_a_sentence(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"]))
    whole = io.BytesIO()
    Image.radial_gradient("L").convert("RGB").resize((48, 40)).save(whole, kind)
    broken = bytearray(whole.getvalue())
    for _ in range(data.draw(st.integers(1, 6))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("broken") / "picture"
    path.write_bytes(broken[: data.draw(st.integers(1, len(broken)))])
    with contextlib.suppress(AppError):
        assert read_still(path, max_megapixels=1).pixels.ndim == 3


# ---- B-04 names ----------------------------------------------------------------------------

NAMES = ["a b.png", "O'Brien.png", "100%d.png", "frame_%03d.png", "-i.png", "n" * 200 + ".png"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_works_and_stays_readable(upright, tmp_path, name, monkeypatch):
    monkeypatch.setattr(cv2, "imread", lambda *_: None)
    folder = tmp_path / "тест 测试 é 🙂"
    folder.mkdir()
    still = read_still(saved(upright, folder / name, format="PNG"))
    result = folder / output_name(folder / name, BY_NAME["png"])
    done = write(still, still.pixels, result)
    assert done.path == result
    assert result.stem.endswith("-swapped")
    assert not result.name.startswith("-")
    assert len(result.name.encode()) < 255


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("holiday.jpg", "holiday-swapped.png"),
        ("测试 🙂.heic", "测试 🙂-swapped.png"),
        ('a<b>:"c|?.png', "a_b___c__-swapped.png"),
        ("...", "picture-swapped.png"),
        ("é" * 300, "é" * 90 + "-swapped.png"),
    ],
)
def test_result_names_fit_every_system(name, expected):
    assert output_name(Path(name), BY_NAME["png"]) == expected


def test_an_earlier_result_is_never_written_over_unless_asked(upright, tmp_path):
    still = read_still(saved(upright, tmp_path / "in.png"))
    path = tmp_path / "out.png"
    first = write(still, still.pixels, path)
    kept = path.read_bytes()
    second = write(still, 255 - still.pixels, path)
    assert (first.path.name, second.path.name) == ("out.png", "out-2.png")
    assert path.read_bytes() == kept
    assert write(still, still.pixels, path, overwrite=True).path == path
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.png", "out-2.png", "out.png"]


# ---- writing -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif"])
def test_what_is_reported_is_what_lies_on_the_disk(upright, tmp_path, ending):
    still = read_still(saved(upright, tmp_path / "in.png"))
    done = write(still, still.pixels, tmp_path / f"out{ending}")
    data = done.path.read_bytes()
    assert (done.bytes, done.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (done.width, done.height) == SIZE
    assert error_levels(read_still(done.path).pixels, np.asarray(upright)) < 3
    with Image.open(done.path) as picture:
        assert source_type_of(xmp_of(picture)) == DIGITAL_SOURCE_TYPE


def test_an_ending_that_cannot_be_written_is_refused(upright, tmp_path):
    still = read_still(saved(upright, tmp_path / "in.png"))
    with pytest.raises(OptionError, match=r"Use \.png"):
        write(still, still.pixels, tmp_path / "out.docx")


@pytest.mark.parametrize("fault", ["mark", "disk"])
def test_when_writing_fails_nothing_is_left(upright, tmp_path, fault, monkeypatch):
    still = read_still(saved(upright, tmp_path / "in.png"))

    def no_mark(plain, signed):
        raise MediaError("no signature")

    def full(*given, **named):
        raise OSError(28, "No space left on device")

    if fault == "disk":
        monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(MediaError):
        write_still(
            still,
            still.pixels,
            tmp_path / "out.png",
            source_type=DIGITAL_SOURCE_TYPE,
            mark=no_mark,
        )
    assert [one.name for one in tmp_path.iterdir()] == ["in.png"]


def test_harmless_metadata_is_kept_and_the_location_is_not(upright, tmp_path):
    exif = Image.Exif()
    exif[ExifTags.Base.Model] = "Camera One"
    exif[ExifTags.Base.Orientation] = 1
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = "2024:05:06 07:08:09"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    still = read_still(saved(upright, tmp_path / "in.jpg", exif=exif, dpi=(300, 300)))
    assert [notice.key for notice in still.notices] == ["note.location"]
    out = write(still, still.pixels, tmp_path / "out.jpg").path
    with Image.open(out) as picture:
        kept = picture.getexif()
        assert kept[ExifTags.Base.Model] == "Camera One"
        inner = kept.get_ifd(ExifTags.IFD.Exif)
        assert inner[ExifTags.Base.DateTimeOriginal] == "2024:05:06 07:08:09"
        assert not kept.get_ifd(ExifTags.IFD.GPSInfo)
        assert picture.info["dpi"] == (300, 300)


def test_what_xmp_said_is_kept_beside_our_statement(upright, tmp_path):
    packet = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:exif="http://ns.adobe.com/exif/1.0/" dc:format="image/png" '
        'exif:GPSLatitude="52,30N"/></rdf:RDF></x:xmpmeta>'
    )
    info = PngImagePlugin.PngInfo()
    info.add_itxt("XML:com.adobe.xmp", packet)
    still = read_still(saved(upright, tmp_path / "in.png", pnginfo=info))
    with Image.open(write(still, still.pixels, tmp_path / "out.png").path) as picture:
        said = xmp_of(picture).decode()
    assert "image/png" in said
    assert "GPSLatitude" not in said
    assert DIGITAL_SOURCE_TYPE in said


@pytest.mark.parametrize(
    ("name", "asked", "expected"),
    [
        ("a.jpeg", None, "jpeg"),
        ("a.heic", None, "jpeg"),
        ("a.gif", None, "png"),
        ("a.webp", None, "webp"),
        ("a.jpg", "png", "png"),
        ("a", None, "png"),
    ],
)
def test_the_result_is_the_kind_of_file_people_expect(name, asked, expected):
    assert format_for(Path(name), asked).name == expected
