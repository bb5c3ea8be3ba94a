"""What a picture says about itself: kept where it is still true and harmless, and told that it
was edited.

Not kept: orientation (the pixels are upright), every kind of location, thumbnails (they show the
face before the change), names tied to faces, and whatever describes the old file's structure.

Source: Exif 2.32 (CIPA DC-008); Adobe XMP specification part 1 (2012); IPTC digital source type
vocabulary.
"""

from __future__ import annotations

import struct
from numbers import Rational
from xml.etree import ElementTree

from PIL import ExifTags, Image

NAMESPACES = {
    "x": "adobe:ns:meta/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
    "tiff": "http://ns.adobe.com/tiff/1.0/",
    "exif": "http://ns.adobe.com/exif/1.0/",
    "exifEX": "http://cipa.jp/exif/1.0/",
    "aux": "http://ns.adobe.com/exif/1.0/aux/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "Iptc4xmpCore": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
}
for _prefix, _uri in NAMESPACES.items():
    ElementTree.register_namespace(_prefix, _uri)


def _named(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{{{NAMESPACES[prefix]}}}{name}" for name in names)


RDF = f"{{{NAMESPACES['rdf']}}}"
SOURCE_TYPE = f"{{{NAMESPACES['Iptc4xmpExt']}}}DigitalSourceType"
BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
END = '\n<?xpacket end="w"?>'
LARGEST_BYTES = 50_000
"""Of EXIF and of XMP each: a JPEG holds at most 65 533 of either."""
LONGEST_VALUE_BYTES = 4_000

_KEPT_XMP = tuple(
    f"{{{NAMESPACES[prefix]}}}"
    for prefix in ("dc", "xmp", "xmpRights", "tiff", "exif", "exifEX", "aux", "photoshop")
) + _named("Iptc4xmpCore")
_PLACES = (
    *_named("exif", "GPS"),
    *_named("photoshop", "City", "State", "Country"),
    *_named("Iptc4xmpCore", "Location", "CountryCode"),
    *_named("Iptc4xmpExt", "Location"),
)
_UNTRUE = (
    *_named("tiff", "Orientation", "ImageWidth", "ImageLength", "BitsPerSample", "Compression"),
    *_named("tiff", "PhotometricInterpretation", "SamplesPerPixel", "PlanarConfiguration"),
    *_named("exif", "PixelXDimension", "PixelYDimension", "ColorSpace", "NativeDigest"),
    *_named("xmp", "Thumbnails"),
    *_named("photoshop", "ColorMode", "ICCProfile", "DocumentAncestors", "TextLayers", "History"),
)

_Base = ExifTags.Base
_KEPT_EXIF = frozenset(
    {
        *(_Base.ImageDescription, _Base.Make, _Base.Model, _Base.Software, _Base.DateTime),
        *(_Base.Artist, _Base.Copyright, _Base.HostComputer, _Base.Rating, _Base.RatingPercent),
        *(_Base.XPTitle, _Base.XPComment, _Base.XPAuthor, _Base.XPKeywords, _Base.XPSubject),
    }
)
_DROPPED_EXIF = frozenset(
    {
        *(_Base.MakerNote, _Base.ExifImageWidth, _Base.ExifImageHeight, _Base.ColorSpace),
        *(_Base.ExifInteroperabilityOffset, _Base.RelatedSoundFile),
    }
)
_IS_SRGB = 1


def clean_exif(picture: Image.Image) -> tuple[bytes, bool]:
    """What is kept of the EXIF, at most :data:`LARGEST_BYTES`; whether there was a location."""
    exif = picture.getexif()
    located = bool(exif.get_ifd(ExifTags.IFD.GPSInfo))
    outer = {tag: value for tag, value in exif.items() if tag in _KEPT_EXIF}
    inner = {
        tag: value
        for tag, value in exif.get_ifd(ExifTags.IFD.Exif).items()
        if tag not in _DROPPED_EXIF
    }
    room = LARGEST_BYTES
    for values in (outer, inner):
        for tag, value in list(values.items()):
            needed = _bytes_needed(tag, value)
            if needed is None or needed > min(room, LONGEST_VALUE_BYTES):
                del values[tag]
            else:
                room -= needed
    kept = Image.Exif()
    kept.update(outer)
    if inner:
        kept.get_ifd(ExifTags.IFD.Exif).update({**inner, _Base.ColorSpace: _IS_SRGB})
    return (kept.tobytes() if outer or inner else b""), located


def clean_xmp(packet: bytes | None) -> tuple[bytes | None, bool]:
    """What is kept of an XMP packet, and whether it told a location."""
    if not packet:
        return None, False
    root = _parsed(packet)
    located = False
    for description in root.findall(f"{RDF}RDF/{RDF}Description"):
        names = [*description.attrib, *(child.tag for child in description)]
        located = located or any(name.startswith(_PLACES) for name in names)
        for name in [name for name in description.attrib if not _is_kept(name)]:
            del description.attrib[name]
        for child in [child for child in description if not _is_kept(child.tag)]:
            description.remove(child)
    try:
        made = ElementTree.tostring(root, encoding="unicode").encode("utf-8")
    except RecursionError:  # nested without end: nobody's honest description
        return None, located
    return (made if len(made) <= LARGEST_BYTES else None), located


def xmp_packet(existing: bytes | None, *, source_type: str) -> bytes:
    """An XMP packet that states ``source_type`` beside what ``existing`` (cleaned) says."""
    root = _parsed(existing)
    rdf = root.find(f"{RDF}RDF")
    if rdf is None:
        rdf = ElementTree.SubElement(root, f"{RDF}RDF")
    statement = ElementTree.SubElement(rdf, f"{RDF}Description", {f"{RDF}about": ""})
    ElementTree.SubElement(statement, SOURCE_TYPE).text = source_type
    body = ElementTree.tostring(root, encoding="unicode")
    return (BEGIN + body + END).encode("utf-8")


def source_type_of(packet: bytes | None) -> str:
    """The digital source type an XMP packet states, or nothing."""
    if not packet:
        return ""
    root = _parsed(packet)
    for element in root.iter():
        if element.tag == SOURCE_TYPE:
            return (element.text or "").strip()
        if SOURCE_TYPE in element.attrib:
            return element.attrib[SOURCE_TYPE]
    return ""


def xmp_of(picture: Image.Image) -> bytes | None:
    """The XMP packet of an opened picture."""
    found = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp")
    if found is None:
        found = getattr(picture, "tag_v2", {}).get(_Base.XMLPacket)
    if isinstance(found, str):
        return found.encode("utf-8", "replace")
    return found if isinstance(found, bytes) else None


def _bytes_needed(tag: int, value: object) -> int | None:
    """How long ``value`` is in a file; None when it cannot be written."""
    parts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(part, (str, bytes, int, float, Rational)) for part in parts):
        return None
    alone = Image.Exif()
    alone.get_ifd(ExifTags.IFD.Exif)[tag] = value
    try:
        return len(alone.tobytes())
    except (struct.error, TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return None


def _is_kept(name: str) -> bool:
    if name.startswith(RDF):
        return True
    return name.startswith(_KEPT_XMP) and not name.startswith(_PLACES + _UNTRUE)


def _parsed(packet: bytes | None) -> ElementTree.Element:
    empty = ElementTree.Element(f"{{{NAMESPACES['x']}}}xmpmeta")
    if not packet:
        return empty
    text = packet.decode("utf-8", "replace")
    start, end = text.find("<x:xmpmeta"), text.rfind("</x:xmpmeta>")
    if start < 0 or end < 0 or "<!DOCTYPE" in text:
        return empty
    try:
        return ElementTree.fromstring(text[start : end + len("</x:xmpmeta>")])
    except ElementTree.ParseError:
        return empty
