"""The corpus of markup: cases in readable files, all with one context.

A case is `=== name [settings]`, the text, a line `=>`, and the HTML. Settings: emoticons, nopreviews, default=LANGUAGE.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from tertulia.content.markup import (
    Channel,
    Context,
    CustomEmoji,
    Linkifier,
    MentionableGroup,
    MentionablePerson,
    Upload,
)

FOLDER = Path(__file__).parent / "corpus"
_HEAD = re.compile(r"^=== ([^\n\[]+?)(?: \[([^\n]*)\])?\n", re.MULTILINE)

CONTEXT = Context(
    realm_id=2,
    realm_url="https://chat.example",
    picture_key="key",
    people=(
        MentionablePerson(31, "Ada Byron"),
        MentionablePerson(41, "Sam"),
        MentionablePerson(42, "Sam"),
        MentionablePerson(43, "Gone", is_active=False),
        MentionablePerson(44, "R&D <team>"),
    ),
    groups=(
        MentionableGroup(17, "crew"),
        MentionableGroup(3, "role:administrators", "Administrators"),
        MentionableGroup(18, "oldies", is_active=False),
    ),
    channels=(Channel(9, "dev"), Channel(10, "my team"), Channel(11, "R&D (new) 100%")),
    topics={(9, "old bugs"): 214, (9, ""): 215},
    custom_emoji=(
        CustomEmoji("party_parrot", "/user_avatars/2/emoji/images/ab12cd34.png"),
        CustomEmoji("octopus", "/user_avatars/2/emoji/images/0c0c0c0c.png"),
    ),
    linkifiers=(
        Linkifier(r"T(?P<id>\d+)", "https://t.example/{id}"),
        Linkifier(r"repo:(?P<path>[\w/&]+)", "https://r.example/{path}"),
        Linkifier(r"(?P<repo>\w+)#(?P<id>\d+)", "https://git.example/{repo}/issues/{id}"),
    ),
    uploads={
        upload.path: upload
        for upload in (
            Upload("2/ab/cat.png", "image/png", 1920, 1080, "/user_uploads/thumbnail/2/ab/cat.png/840x560.webp"),
            Upload(
                "2/ab/wave.gif",
                "image/gif",
                100,
                50,
                "/user_uploads/thumbnail/2/ab/wave.gif/840x560-anim.webp",
                is_animated=True,
            ),
            Upload("2/ab/new.png", "image/png", 64, 64),
            Upload(
                "2/ab/scan.tiff",
                "image/tiff",
                3000,
                2000,
                "/user_uploads/thumbnail/2/ab/scan.tiff/840x560.webp",
                transcoded="1920x1080.webp",
            ),
            Upload("2/ab/notes.pdf", "application/pdf"),
            Upload("2/ab/clip.mp4", "video/mp4"),
            Upload("2/ab/song.mp3", "audio/mpeg"),
        )
    },
)


class Case(NamedTuple):
    """A text, what it is rendered with, and the HTML it must become."""

    name: str
    content: str
    context: Context
    html: str


def cases() -> Iterator[Case]:
    """All cases of all files."""
    for path in sorted(FOLDER.glob("*.txt")):
        _, *parts = _HEAD.split(path.read_text("utf-8"))
        for name, settings, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            content, arrow, html = body.rstrip("\n").partition("\n=>\n")
            assert arrow, f"{path.name}: {name} has no HTML"
            yield Case(f"{path.stem}: {name}", content, context_of(settings or ""), html)


def context_of(settings: str) -> Context:
    """The context, with these settings."""
    changes: dict[str, object] = {}
    for setting in filter(None, settings.split(",")):
        name, _, value = setting.strip().partition("=")
        if name == "emoticons":
            changes["translate_emoticons"] = True
        elif name == "nopreviews":
            changes["previews_images"] = False
        elif name == "default":
            changes["default_code_language"] = value
        else:
            raise ValueError(f"no such setting: {name}")
    return msgspec.structs.replace(CONTEXT, **changes)
