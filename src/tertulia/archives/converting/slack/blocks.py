"""Slack's blocks and attachments as a tree (pure).

`rich_text` says exactly what somebody wrote. Other blocks are what apps lay out: their words come, their buttons do not. Nothing
is taken for granted of their shape: an odd part is left out and counted.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from tertulia.archives.converting.slack.text import Names, channel, decoded, emoji, link, moment, parse, parse_inline
from tertulia.archives.converting.tree import (
    Block,
    CodeBlock,
    Divider,
    Everyone,
    Heading,
    Inline,
    Item,
    Items,
    Link,
    Mention,
    Moment,
    Paragraph,
    Quote,
    Text,
    in_style,
)
from tertulia.archives.converting.values import Json, objects, string

MOST_DEPTH = 12
"""Of blocks in blocks."""
MOST_PARTS = 200
"""Files of a message, and what else is attached to it: Slack has no more than a hundred of each."""
_SILENT = ("actions", "input", "divider")
_PARTS = ("rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted")
_LABEL = re.compile(r"<(?:[@#]|!subteam\^)([A-Z0-9]{2,20})\|([^<>\n]+)>")


class LabelledNames:
    """Names, with what the text of a message calls them: its rich text has ids only."""

    def __init__(self, names: Names, text: str) -> None:
        self._names = names
        self._labels = {slack_id: decoded(label) for slack_id, label in _LABEL.findall(text)}
        self.channel, self.conversation, self.count = names.channel, names.conversation, names.count

    def person(self, slack_id: str, label: str = "") -> int:
        """Somebody's id in the archive."""
        return self._names.person(slack_id, label or self.label(slack_id))

    def label(self, slack_id: str) -> str:
        """What it is called there, if it is said."""
        return self._labels.get(slack_id, "")


def text_of(message: Json, names: Names) -> list[Block]:
    """What a message says: its blocks, else its text, which may be a summary of them; and then what is attached."""
    blocks = objects(message.get("blocks"))
    text = string(message.get("text"))
    told = LabelledNames(names, text)
    found = laid_out(blocks, told)
    if not found or (text.strip() and _has_unknown_part(blocks)):
        found = parse(text, names)
    return found + attached(message, text, told)


def _has_unknown_part(blocks: list[Json]) -> bool:
    """Of what somebody wrote: Slack itself makes the text of that, and leaves nothing out. An app makes its own."""
    return all(block.get("type") == "rich_text" for block in blocks) and any(
        part.get("type") not in _PARTS for block in blocks for part in objects(block.get("elements"))
    )


def few(value: object, names: Names) -> list[Json]:
    """The objects of a list of which there can be but so many: each is compared with the whole text."""
    found = objects(value)
    if len(found) > MOST_PARTS:
        names.count(f"messages with more than {MOST_PARTS} files or attachments: the first ones came", str(len(found)))
    return found[:MOST_PARTS]


# Rich text


def rich_text(block: Json, names: LabelledNames) -> list[Block]:
    """What somebody wrote."""
    found: list[Block] = []
    for part in objects(block.get("elements")):
        kind = part.get("type")
        if kind == "rich_text_list":
            items = _items(part, names)
            if found and isinstance(last := found[-1], Items):
                last.items.extend(items)
            else:
                found.append(Items(items))
        elif kind == "rich_text_preformatted":
            found.append(CodeBlock("".join(_words(one) for one in objects(part.get("elements")))))
        elif kind == "rich_text_quote":
            found.append(Quote([Paragraph(_leaves(part, names))]))
        elif kind == "rich_text_section":
            found.append(Paragraph(_leaves(part, names)))
        else:
            names.count("parts of rich texts of an unknown kind", string(kind))
    return [one for one in found if not _is_empty(one)]


def _is_empty(block: Block) -> bool:
    inlines = block.inlines if isinstance(block, Paragraph) else [Text("x")]
    return all(isinstance(one, Text) and not one.text.strip() for one in inlines)


def _items(part: Json, names: LabelledNames) -> list[Item]:
    depth, offset = (value if isinstance(value := part.get(key), int) else 0 for key in ("indent", "offset"))
    depth = max(0, min(depth, MOST_DEPTH))
    is_numbered = part.get("style") == "ordered"
    return [
        Item(_leaves(one, names), depth, max(0, offset) + place if is_numbered else None)
        for place, one in enumerate(objects(part.get("elements")), 1)
    ]


def _leaves(part: Json, names: LabelledNames) -> list[Inline]:
    return [leaf for one in objects(part.get("elements")) if (leaf := _leaf(one, names)) is not None]


def _leaf(one: Json, names: LabelledNames) -> Inline | None:
    kind = one.get("type")
    if kind == "text":
        return _styled(string(one.get("text")), one)
    if kind == "link":
        return _rich_link(one, names)
    if kind == "emoji":
        return emoji(string(one.get("name")), names)
    if kind == "user":
        return Mention(names.person(string(one.get("user_id"))))
    if kind == "channel":
        slack_id = string(one.get("channel_id"))
        return channel(slack_id, names.label(slack_id), names)
    if kind == "broadcast":
        return Everyone()
    if kind == "usergroup":
        slack_id = string(one.get("usergroup_id"))
        shown = names.label(slack_id).removeprefix("@") or slack_id or "group"
        names.count("mentions of user groups, which are not in the export: they are text", shown)
        return Text(f"@{shown}")
    if kind == "date":
        return moment(str(one.get("timestamp")), string(one.get("fallback")))
    if kind in ("color", "team"):
        return Text(string(one.get("value")) or string(one.get("team_id")))
    names.count("parts of rich texts of an unknown kind", string(kind))
    return Text(string(one.get("text"))) if one.get("text") else None


def _styled(text: str, one: Json) -> Text:
    style = one.get("style")
    style = style if isinstance(style, dict) else {}
    return Text(text, *(bool(style.get(name)) for name in ("bold", "italic", "strike", "code")))


def _rich_link(one: Json, names: LabelledNames) -> Inline:
    found = link(string(one.get("url")), string(one.get("text")), names)
    return in_style(found, _styled("", one))


def _words(one: Json) -> str:
    return string(one.get("text")) or string(one.get("url"))


# Blocks of apps


def laid_out(blocks: Iterable[Json], names: LabelledNames, depth: int = 0) -> list[Block]:
    """The words of blocks that an app laid out."""
    found: list[Block] = []
    for block in blocks:
        kind = block.get("type")
        if kind == "rich_text":
            found += rich_text(block, names)
        elif kind == "header":
            found.append(Heading([Text(decoded(_object_text(block.get("text"))))]))
        elif kind == "divider":
            found.append(Divider())
        elif kind in ("section", "context"):
            found += _section(block, names)
        elif kind in ("image", "video"):
            found.append(Paragraph([_picture(block)]))
        elif kind == "markdown":
            found.append(Paragraph([Text(string(block.get("text")))]))
        elif kind == "table" and depth < MOST_DEPTH:
            found += _table(block, names)
        elif kind not in (*_SILENT, "file", "call"):
            names.count("blocks of an unknown kind", string(kind))
    return [one for one in found if isinstance(one, Divider) or not _is_empty(one)] if _has_words(found) else []


def _has_words(blocks: list[Block]) -> bool:
    return any(not isinstance(one, Divider) and not _is_empty(one) for one in blocks)


def _section(block: Json, names: LabelledNames) -> list[Block]:
    found: list[Block] = []
    for one in [block.get("text"), *objects(block.get("fields")), *objects(block.get("elements"))]:
        if not isinstance(one, dict):
            continue
        if one.get("type") == "image":
            found.append(Paragraph([_picture(one)]))
        elif one.get("type") == "plain_text":
            found.append(Paragraph([Text(decoded(string(one.get("text"))))]))
        else:
            found += parse(_object_text(one), names)
    accessory = block.get("accessory")
    if isinstance(accessory, dict) and accessory.get("type") == "image":
        found.append(Paragraph([_picture(accessory)]))
    return found


def _object_text(value: object) -> str:
    return string(value.get("text")) if isinstance(value, dict) else string(value)


def _picture(block: Json) -> Inline:
    url = next((string(block[key]) for key in ("image_url", "video_url", "title_url") if block.get(key)), "")
    name = _object_text(block.get("title")) or string(block.get("alt_text"))
    return Link(url, decoded(name)) if url else Text(decoded(name))


def _table(block: Json, names: LabelledNames) -> list[Block]:
    """Each row as a line: cells may hold more than a table of ours can."""
    lines: list[Block] = []
    rows = block.get("rows")
    for row in rows if isinstance(rows, list) else []:
        cells = [_cell(cell, names) for cell in objects(row)]
        inlines = [leaf for place, cell in enumerate(cells) for leaf in ([Text(" | ")] if place else []) + cell]
        lines.append(Paragraph(inlines))
    return lines


def _cell(cell: Json, names: LabelledNames) -> list[Inline]:
    if cell.get("type") == "rich_text":
        found: list[Inline] = []
        for part in objects(cell.get("elements")):
            found += _leaves(part, names)
        return found
    return [Text(string(cell.get("text")))]


# Attachments


def attached(message: Json, text: str, names: LabelledNames) -> list[Block]:
    """What apps and links brought along. A preview of a link of the text is left out."""
    found: list[Block] = []
    text = decoded(text)
    for one in few(message.get("attachments"), names):
        url = next((string(one[key]) for key in ("from_url", "original_url") if one.get(key)), "")
        if one.get("is_msg_unfurl") or one.get("is_share"):
            found += _shared(one, url, names)
        elif url and (url in text or one.get("service_name")):
            names.count("previews of links: they are made anew when somebody edits the message")
        else:
            found += _attachment(one, names)
    return found


def _shared(one: Json, url: str, names: LabelledNames) -> list[Block]:
    """A message that is quoted."""
    author = string(one.get("author_name")) or string(one.get("author_subname"))
    first: list[Inline] = [Text(f"{author}: ", bold=True)] if author else []
    if url:
        first += [link(url, "message", names)]
    inside = parse(string(one.get("text")), names) or [Paragraph([Text(decoded(string(one.get("fallback"))))])]
    return [Quote([*([Paragraph(first)] if first else []), *inside])]


def _attachment(one: Json, names: LabelledNames) -> list[Block]:
    found = parse(string(one.get("pretext")), names)
    inside: list[Block] = []
    if author := string(one.get("author_name")):
        inside.append(Paragraph([Text(decoded(author), bold=True)]))
    if title := string(one.get("title")):
        address = string(one.get("title_link"))
        inside.append(Paragraph([Link(address, decoded(title))] if address else [Text(decoded(title), bold=True)]))
    inside += parse(string(one.get("text")), names)
    inside += laid_out(objects(one.get("blocks")), names)
    for field in objects(one.get("fields")):
        label: list[Inline] = (
            [Text(decoded(string(field.get("title"))) + ": ", bold=True)] if field.get("title") else []
        )
        inside.append(Paragraph([*label, *parse_inline(string(field.get("value")), names)]))
    if image := string(one.get("image_url")):
        inside.append(Paragraph([Link(image)]))
    inside += _footer(one)
    if not inside and not found and one.get("fallback"):
        inside = parse(string(one.get("fallback")), names)
    return [*found, Quote(inside)] if inside else found


def _footer(one: Json) -> list[Block]:
    words: list[Inline] = []
    if footer := string(one.get("footer")):
        words.append(Text(decoded(footer)))
    try:
        at = datetime.fromtimestamp(int(float(one.get("ts") or 0)), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        at = datetime.fromtimestamp(0, UTC)
    if words and at.year > 1971:
        words += [Text(" "), Moment(at)]
    return [Paragraph(words)] if words else []
