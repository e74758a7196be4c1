"""What the renderer is told and what it gives back. Frozen values only: the same text in the same context is the same HTML.

A name that is not in the context does not exist for the author, and stays literal text: who fills the context decides what
the author may reach (people a limited guest cannot see, channels whose content the author cannot read are left out).
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tertulia.content.markup.limits import MAX_HIGHLIGHTING_SECONDS, MAX_HTML_BYTES
from tertulia.content.markup.remote import RemotePicture


class MentionablePerson(msgspec.Struct, frozen=True, gc=False):
    """A user who may be mentioned."""

    id: int
    name: str
    is_active: bool = True


class MentionableGroup(msgspec.Struct, frozen=True, gc=False):
    """A user group that may be mentioned; `display_name` differs from the name for the groups made by the server."""

    id: int
    name: str
    display_name: str = ""
    is_active: bool = True


class Channel(msgspec.Struct, frozen=True, gc=False):
    """A channel whose content the author may read."""

    id: int
    name: str


class CustomEmoji(msgspec.Struct, frozen=True, gc=False):
    """An active emoji of the realm; `url` is the path of its picture."""

    name: str
    url: str


class Linkifier(msgspec.Struct, frozen=True, gc=False):
    """A pattern of the realm with named groups, and the RFC 6570 template of the address it stands for."""

    pattern: str
    url_template: str


class Upload(msgspec.Struct, frozen=True, gc=False):
    """An uploaded file the author may use. Without `thumbnail` the picture's thumbnail is still being made."""

    path: str
    content_type: str = ""
    width: int = 0
    height: int = 0
    thumbnail: str = ""
    is_animated: bool = False
    transcoded: str = ""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What the names in a text stand for, as far as its author may know, and the settings that shape the HTML.

    `topics` gives the newest message the author can read in a topic, by channel id and the topic's key.
    `uploads` holds the files that exist and are the author's or within their reach, by path without `user_uploads/`.
    `picture_key` signs the addresses of pictures from elsewhere (remote.py); without it none are shown.
    `highlighting_seconds` is the processor time that colouring code may take; with 0 it stays plain.
    """

    realm_id: int = 0
    realm_url: str = ""
    picture_key: str = ""
    people: tuple[MentionablePerson, ...] = ()
    groups: tuple[MentionableGroup, ...] = ()
    channels: tuple[Channel, ...] = ()
    topics: Mapping[tuple[int, str], int] = {}
    custom_emoji: tuple[CustomEmoji, ...] = ()
    linkifiers: tuple[Linkifier, ...] = ()
    uploads: Mapping[str, Upload] = {}
    default_code_language: str = ""
    translate_emoticons: bool = False
    is_old: bool = False
    """Whether the text may be older than the names that people have now: then an id decides, and the name of then is shown."""
    previews_images: bool = True
    empty_topic_name: str = "general chat"
    max_html_bytes: int = MAX_HTML_BYTES
    highlighting_seconds: float = MAX_HIGHLIGHTING_SECONDS


EMPTY_CONTEXT = Context()
OF_DESCRIPTIONS = Context(highlighting_seconds=0)
"""Code in descriptions has no colours: they are changed often, and nobody counts what that costs."""


class WantedNames(msgspec.Struct, frozen=True, kw_only=True):
    """The names and ids a text could refer to: what has to be loaded for its context, and nothing else.

    `person_names` are lower-cased, topics in `topics` are keys (kernel.text), group and channel names are as written.
    False positives are harmless (a name inside code is looked up in vain).
    """

    person_names: frozenset[str] = frozenset()
    person_ids: frozenset[int] = frozenset()
    group_names: frozenset[str] = frozenset()
    channel_names: frozenset[str] = frozenset()
    topics: frozenset[tuple[str, str]] = frozenset()
    emoji_names: frozenset[str] = frozenset()
    upload_paths: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(
            self.person_names
            or self.person_ids
            or self.group_names
            or self.channel_names
            or self.emoji_names
            or self.upload_paths
        )


class Widget(msgspec.Struct, frozen=True):
    """What a `/poll` or `/todo` message starts with: the content of its first submessage."""

    widget_type: Literal["poll", "todo"]
    extra_data: dict[str, Any]

    def as_json(self) -> str:
        """The content of the submessage, a JSON text."""
        return msgspec.json.encode(self).decode()


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A text as HTML, and what was found on the way.

    Mentions are those that notify: silent ones (`@_`, in quotes, of people or groups no longer active) are only in the HTML.
    `attachment_paths` are paths like `2/ab/x.png`, without `user_uploads/`; `links` every address linked, in order;
    `remote` the pictures from elsewhere that are to be fetched; `pages` the first addresses of which a preview may be made.
    """

    html: str
    mentioned_user_ids: frozenset[int] = frozenset()
    mentioned_group_ids: frozenset[int] = frozenset()
    mentions_channel: bool = False
    mentions_topic: bool = False
    has_image: bool = False
    links: tuple[str, ...] = ()
    attachment_paths: tuple[str, ...] = ()
    remote: tuple[RemotePicture, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def has_link(self) -> bool:
        """Whether the text has any link."""
        return bool(self.links)

    @property
    def has_attachment(self) -> bool:
        """Whether the text links to a file its author may share."""
        return bool(self.attachment_paths)


class TopicLink(msgspec.Struct, frozen=True):
    """A link found in the name of a topic."""

    text: str
    url: str


class TooLarge(Exception):
    """The HTML of a text would be larger than allowed: the text is refused, never cut."""
