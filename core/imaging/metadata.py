"""What a picture says about itself: kept where it is harmless, and told that it was edited.

Source: Adobe XMP specification part 1 (2012); IPTC digital source type vocabulary.
"""

from __future__ import annotations

from xml.etree import ElementTree

from PIL import ExifTags, Image

NAMESPACES = {
    "x": "adobe:ns:meta/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "tiff": "http://ns.adobe.com/tiff/1.0/",
    "exif": "http://ns.adobe.com/exif/1.0/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
}
for _prefix, _uri in NAMESPACES.items():
    ElementTree.register_namespace(_prefix, _uri)

RDF = f"{{{NAMESPACES['rdf']}}}"
SOURCE_TYPE = f"{{{NAMESPACES['Iptc4xmpExt']}}}DigitalSourceType"
BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
END = '\n<?xpacket end="w"?>'

_DROPPED = (
    f"{{{NAMESPACES['exif']}}}GPS",
    f"{{{NAMESPACES['tiff']}}}Orientation",
    f"{{{NAMESPACES['xmp']}}}Thumbnails",
)


def clean_exif(picture: Image.Image) -> tuple[bytes, bool]:
    """EXIF without orientation, location and thumbnail; whether there was a location.

    The thumbnail would show the face before the change.
    """
    exif = picture.getexif()
    located = bool(exif.get_ifd(ExifTags.IFD.GPSInfo))
    kept = Image.Exif()
    for tag, value in exif.items():
        if tag not in (
            ExifTags.Base.Orientation,
            ExifTags.IFD.GPSInfo,
            ExifTags.IFD.Exif,
            ExifTags.IFD.Interop,
            ExifTags.Base.XMLPacket,
            ExifTags.Base.InterColorProfile,
        ) and isinstance(value, (str, int, float, bytes)):
            kept[tag] = value
    inner = {
        tag: value
        for tag, value in exif.get_ifd(ExifTags.IFD.Exif).items()
        if isinstance(value, (str, int)) and tag != ExifTags.Base.MakerNote
    }
    if inner:
        kept.get_ifd(ExifTags.IFD.Exif).update(inner)
    return (kept.tobytes() if len(kept) or inner else b""), located


def xmp_packet(existing: bytes | None, *, source_type: str) -> bytes:
    """An XMP packet that states ``source_type``; keeps what ``existing`` said otherwise."""
    root = _parsed(existing)
    rdf = root.find(f"{RDF}RDF")
    if rdf is None:
        rdf = ElementTree.SubElement(root, f"{RDF}RDF")
    for description in list(rdf):
        for name in [name for name in description.attrib if _drop(name)]:
            del description.attrib[name]
        for child in [child for child in description if _drop(child.tag)]:
            description.remove(child)
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
    if found is None and picture.format == "TIFF":
        found = picture.tag_v2.get(ExifTags.Base.XMLPacket)  # type: ignore[attr-defined]
    if isinstance(found, str):
        return found.encode("utf-8", "replace")
    return found if isinstance(found, bytes) else None


def _drop(name: str) -> bool:
    return name.startswith(_DROPPED) or name == SOURCE_TYPE


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
