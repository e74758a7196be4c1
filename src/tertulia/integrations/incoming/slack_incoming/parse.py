"""What programs post to an incoming webhook of Slack: a text, attachments, blocks."""

from typing import Any

import msgspec

from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.refusals import anomalous, read
from tertulia.integrations.incoming.slack_incoming.mrkdwn import convert
from tertulia.integrations.incoming.wording import MAX_LISTED, Room, line, link, name, quote
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH

MAX_READ = 2 * MAX_MESSAGE_LENGTH
"""Of everything that is posted: texts get shorter by conversion, and blocks have words that are not shown."""
_SAID = ("channel", "text", "blocks", "attachments")
"""What is read, in the order of the message."""


class Field(msgspec.Struct):
    """A pair at the end of an attachment."""

    title: str | None = None
    value: Any = None


class Attachment(msgspec.Struct):
    """The older way to say more."""

    fallback: str | None = None
    pretext: str | None = None
    author_name: str | None = None
    title: str | None = None
    title_link: str | None = None
    text: str | None = None
    fields: list[Field] | None = None
    image_url: str | None = None
    footer: str | None = None
    blocks: list[Any] | None = None


class Payload(msgspec.Struct):
    """The whole; everything may be missing, but not everything at once."""

    text: str | None = None
    channel: str | None = None
    attachments: list[Attachment] | None = None
    blocks: list[Any] | None = None


def parse(delivery: Delivery) -> Post:
    """Blocks say the same as the text, and more; the text is what is left without them."""
    sent = delivery.payload
    if isinstance(sent, dict):
        sent = Room(MAX_READ).take({key: sent[key] for key in _SAID if key in sent})
    payload = read(sent, Payload)
    said = [part for block in (payload.blocks or [])[:50] if (part := _block(block))]
    if not said and payload.text:
        said = [convert(payload.text)]
    said += [part for each in (payload.attachments or [])[:MAX_LISTED] if (part := _attachment(each))]
    if not said:
        raise anomalous()
    return Post("", (payload.channel or "").lstrip("#@") or "Slack", "\n\n".join(said))


def _attachment(part: Attachment) -> str:
    title = (
        (f"{name(part.title)} {link('(open)', part.title_link)}" if part.title_link else name(part.title))
        if part.title
        else ""
    )
    footer = line(part.footer or "").replace("*", "").strip()
    lines = [
        convert(part.pretext or ""),
        line(part.author_name or ""),
        title,
        convert(part.text or ""),
        *(f"- {name(field.title or 'value')}: {convert(_text(field.value))}" for field in (part.fields or [])[:20]),
        link("picture", part.image_url) if part.image_url else "",
        *(_block(block) for block in (part.blocks or [])[:50]),
        f"*{footer}*" if footer else "",
    ]
    found = [each for each in lines if each.strip()]
    return "\n".join(found) or convert(part.fallback or "")


def _block(block: Any) -> str:
    """One block; kinds that are for pressing, or that are unknown, say nothing."""
    if not isinstance(block, dict):
        return ""
    match block.get("type"):
        case "header":
            return name(_text(block.get("text")))
        case "section":
            fields = block.get("fields")
            parts = [block.get("text"), *(fields[:20] if isinstance(fields, list) else [])]
            return "\n".join(convert(text) for part in parts if (text := _text(part)))
        case "context":
            elements = block.get("elements")
            parts = elements[:20] if isinstance(elements, list) else []
            return " ".join(convert(text) for part in parts if (text := _text(part)))
        case "image":
            return link(
                line(_text(block.get("alt_text"))).replace("[", "(").replace("]", ")") or "picture",
                _text(block.get("image_url")),
            )
        case "rich_text":
            return quote(_rich(block)).strip()
        case "divider":
            return "---"
    return ""


def _rich(part: Any, depth: int = 0) -> str:
    """The words of a rich text, without its looks."""
    if not isinstance(part, dict) or depth > 6:
        return ""
    inner = part.get("elements")
    if not isinstance(inner, list):
        return _text(part.get("text")) or _text(part.get("url")) or _text(part.get("name"))
    ending = "\n" if str(part.get("type", "")).startswith("rich_text_") else ""
    return "".join(_rich(each, depth + 1) for each in inner[:100]) + ending


def _text(value: Any) -> str:
    """A text, or the one in a text object; numbers as they are written."""
    if isinstance(value, dict):
        value = value.get("text")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""
