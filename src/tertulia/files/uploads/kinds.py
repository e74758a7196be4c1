"""What a file is, by its first bytes (pure). What a sender says, and what the name ends with, is no evidence.

Only what is known by heart here is shown by a browser in our name; everything else is downloaded as bytes. Neither HTML
nor SVG is known: a file that a browser could take for either is bytes.
"""

UNKNOWN = "application/octet-stream"
HEAD = 4096
"""So many bytes are enough."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/tiff"})
"""Kinds whose thumbnail we try to make."""
SHOWN = frozenset({
    *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"),
    *("video/mp4", "video/webm", "video/quicktime"),
    *("audio/mpeg", "audio/ogg", "audio/wav", "audio/flac", "audio/mp4", "audio/aac"),
})  # fmt: skip
"""Kinds that a browser shows or plays in the page."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"\xff\xf1", "audio/aac"),
    (b"\xff\xf9", "audio/aac"),
)
_CONTAINERS = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_BRANDS = (
    (b"avif", "image/avif"),
    (b"avis", "image/avif"),
    (b"M4A ", "audio/mp4"),
    (b"qt  ", "video/quicktime"),
    (b"isom", "video/mp4"),
    (b"iso2", "video/mp4"),
    (b"iso4", "video/mp4"),
    (b"iso5", "video/mp4"),
    (b"iso6", "video/mp4"),
    (b"mp41", "video/mp4"),
    (b"mp42", "video/mp4"),
    (b"avc1", "video/mp4"),
    (b"M4V ", "video/mp4"),
    (b"dash", "video/mp4"),
)


def kind_of(head: bytes) -> str:
    """The content type of a file that begins like this."""
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    if head[:4] == b"RIFF":
        return _CONTAINERS.get(head[8:12], UNKNOWN)
    if head[4:8] == b"ftyp":
        return next((kind for brand, kind in _BRANDS if head[8:12] == brand), UNKNOWN)
    if head[:4] == b"\x1a\x45\xdf\xa3" and b"webm" in head[:64]:
        return "video/webm"
    return UNKNOWN
