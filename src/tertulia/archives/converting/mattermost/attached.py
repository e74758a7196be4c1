"""What integrations lay out below a post: their words and links come, their buttons do not (pure)."""

from tertulia.archives.converting.mattermost.text import Names, parse, parse_inline
from tertulia.archives.converting.tree import Block, Inline, Link, Paragraph, Quote, Text
from tertulia.archives.converting.values import Json, objects, string

MOST_ATTACHED = 100


def attached(props: Json, names: Names) -> list[Block]:
    """Of all of them."""
    found: list[Block] = []
    for one in objects(props.get("attachments"))[:MOST_ATTACHED]:
        found += parse(string(one.get("pretext")), names)
        inside = [*_head(one), *parse(string(one.get("text")), names), *_fields(one, names), *_foot(one)]
        if not inside and not found:
            inside = parse(string(one.get("fallback")), names)
        found += [Quote(inside)] if inside else []
    return found


def _head(one: Json) -> list[Block]:
    found: list[Block] = []
    for words, address in (("author_name", "author_link"), ("title", "title_link")):
        label, url = string(one.get(words)).strip(), string(one.get(address)).strip()
        if label:
            found.append(Paragraph([Link(url, label) if url else Text(label, bold=True)]))
    return found


def _fields(one: Json, names: Names) -> list[Block]:
    found: list[Block] = []
    for field in objects(one.get("fields")):
        title, value = string(field.get("title")).strip(), field.get("value")
        label: list[Inline] = [Text(f"{title}: ", bold=True)] if title else []
        said = parse_inline(value if isinstance(value, str) else _number(value), names)
        if label or said:
            found.append(Paragraph([*label, *said]))
    return found


def _number(value: object) -> str:
    return str(value) if isinstance(value, (int, float)) else ""


def _foot(one: Json) -> list[Block]:
    found: list[Block] = [Paragraph([Link(url)]) for url in [string(one.get("image_url")).strip()] if url]
    footer = string(one.get("footer")).strip()
    return [*found, Paragraph([Text(footer)])] if footer else found
