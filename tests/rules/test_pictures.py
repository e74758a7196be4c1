"""Pictures made to fit: what comes out holds pixels and nothing else, and what is hostile is refused before it costs anything."""

import io
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tertulia.content.pictures import apart
from tertulia.content.pictures.drawing import extra_emoji
from tertulia.content.pictures.fitting import NotAPicture, cover, fit, within
from tertulia.content.pictures.shrinking import shrink_file

SECRET = b"40.4168N 3.7038W"
SCAN = b"\xff\xda"
"""Where one begins, in a JPEG."""


def written(image: Image.Image, format: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def colours(data: bytes) -> set[object]:
    return {colour for _, colour in opened(data).getcolors() or ()}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, rows: bytes) -> bytes:
    """A PNG that says it is so large, whatever is in it."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def speaking() -> dict[str, bytes]:
    """Pictures with something to hide."""
    image = Image.new("RGB", (300, 200), "#336699")
    exif = Image.Exif()
    exif[0x010E] = SECRET.decode()
    text = PngInfo()
    text.add_text("Comment", SECRET.decode())
    return {
        "jpeg": written(image, "JPEG", exif=exif, comment=SECRET, icc_profile=SECRET),
        "png": written(image, "PNG", pnginfo=text, exif=exif, icc_profile=SECRET),
        "webp": written(image, "WEBP", exif=exif, icc_profile=SECRET, xmp=SECRET),
        "gif": written(image, "GIF", comment=SECRET),
        "polyglot": written(image, "PNG") + b"<script>" + SECRET + b"</script>",
    }


@pytest.mark.parametrize("kind", speaking())
def test_nothing_but_pixels_comes_through(kind: str) -> None:
    data = speaking()[kind]
    assert SECRET in data
    made = [*cover(data, [100, 500]), within(data, 800, 100), fit(data, 64).data]
    for picture in made:
        assert SECRET not in picture
        assert opened(picture).info.keys() <= {"srgb", "gamma"}


def test_a_square_is_cut_from_the_middle() -> None:
    wide = Image.new("RGB", (300, 100), "red")
    wide.paste("lime", (100, 0, 200, 100))
    small, large = cover(written(wide, "PNG"), [100, 500])
    assert (opened(small).size, opened(large).size) == ((100, 100), (500, 500))
    assert colours(small) == {(0, 255, 0, 255)}


def test_a_picture_lying_on_its_side_is_put_upright() -> None:
    tall = Image.new("RGB", (100, 300), "red")
    exif = Image.Exif()
    exif[0x0112] = 6
    assert opened(within(written(tall, "PNG", exif=exif), 800, 100)).size == (300, 100)


def test_what_is_small_enough_keeps_its_size() -> None:
    assert opened(within(written(Image.new("RGB", (40, 20)), "PNG"), 800, 100)).size == (40, 20)
    assert opened(within(written(Image.new("RGB", (4000, 1000)), "PNG"), 800, 100)).size == (400, 100)


def test_of_a_moving_picture_the_first_frame() -> None:
    frames = [Image.new("RGB", (50, 50), colour) for colour in ("red", "lime")]
    moving = written(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert colours(cover(moving, [10])[0]) == {(255, 0, 0, 255)}


@pytest.mark.parametrize(
    ("width", "height"), [(100_000, 100_000), (2**31 - 1, 1), (7_072, 7_072), (4_000, 3_001), (0, 5)]
)
def test_a_bomb_is_refused_by_what_it_says_of_its_size(width: int, height: int) -> None:
    bomb = png_of(width, height, b"\0" * 1000)
    tracemalloc.start()
    try:
        for make in (lambda: cover(bomb, [100]), lambda: within(bomb, 800, 100), lambda: fit(bomb, 64)):
            with pytest.raises(NotAPicture):
                make()
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_large_photograph_is_read_in_a_smaller_size() -> None:
    photograph = written(Image.new("L", (5_000, 4_000), 90), "JPEG")
    assert opened(cover(photograph, [100])[0]).size == (100, 100)
    with pytest.raises(NotAPicture):
        cover(written(Image.new("1", (5_000, 4_000)), "PNG"), [100])


def test_a_photograph_that_goes_over_itself_a_thousand_times_is_refused(tmp_path: Path) -> None:
    usual = written(Image.new("RGB", (64, 64), "red"), "JPEG", progressive=True)
    last = usual.rindex(SCAN)
    bomb = usual[:-2] + usual[last:-2] * 1000 + usual[-2:]
    assert opened(cover(usual, [8])[0]).size == (8, 8)
    for work in (lambda: fit(bomb, 8), lambda: cover(bomb, [8]), lambda: within(bomb, 8, 8)):
        with pytest.raises(NotAPicture, match="too many scans"):
            work()
    for name, data in (("usual", usual), ("bomb", bomb)):
        (tmp_path / name).write_bytes(data)
    assert shrink_file(tmp_path / "usual", tmp_path, 8, 8).frames == 1
    with pytest.raises(NotAPicture, match="too many scans"):
        shrink_file(tmp_path / "bomb", tmp_path, 8, 8)


def test_a_moving_bomb_is_refused() -> None:
    frames = [Image.new("1", (1500, 1500), number % 2) for number in range(60)]
    bomb = written(frames[0], "GIF", save_all=True, append_images=frames[1:])
    for make in (lambda: cover(bomb, [100]), lambda: fit(bomb, 64)):
        with pytest.raises(NotAPicture):
            make()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"%PDF-1.7",
        b"II*\0" + b"\0" * 60,
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a" + b"\xff" * 60,
        b"RIFF\x20\0\0\0WEBPVP8 " + b"\xff" * 40,
        b"\xff\xd8\xff\xe0" + b"\0" * 40,
        written(Image.new("RGB", (9, 9)), "BMP"),
        written(Image.new("RGB", (9, 9)), "TIFF"),
        png_of(50, 50, b"\0" * 10),
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_picture_of_a_known_kind(data: bytes) -> None:
    for make in (lambda: cover(data, [100]), lambda: within(data, 800, 100), lambda: fit(data, 64)):
        with pytest.raises(NotAPicture):
            make()


def test_any_cut_of_a_picture_is_refused_or_read() -> None:
    for whole in speaking().values():
        for end in range(0, len(whole), max(1, len(whole) // 20)):
            try:
                assert cover(whole[:end], [8])
            except NotAPicture:
                continue


def test_the_services_own_emoji() -> None:
    image = opened(extra_emoji())
    assert (image.format, image.size, image.mode) == ("PNG", (64, 64), "RGBA")
    assert image.getpixel((0, 0)) == (0, 0, 0, 0)
    assert image.getpixel((32, 10)) == (0xB4, 0x50, 0x2F, 255)


async def test_a_process_of_its_own_makes_the_same_pictures() -> None:
    frames = [Image.new("RGB", (50, 40), colour) for colour in ("red", "lime")]
    still = written(frames[0], "PNG")
    moving = written(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert await apart.cover(still, [10, 20]) == cover(still, [10, 20])
    assert await apart.within(still, 20, 20) == within(still, 20, 20)
    assert await apart.fit(moving, 16) == fit(moving, 16)
    for data in (b"", b"no picture", still[:40]):
        with pytest.raises(NotAPicture):
            await apart.cover(data, [10])
