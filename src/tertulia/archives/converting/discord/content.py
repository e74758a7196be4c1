"""What a message says besides its text: what it answers, what was forwarded, and cards of programs."""

from datetime import datetime

from tertulia.archives.converting.discord.text import Names, link, parse, parse_inline
from tertulia.archives.converting.tree import Block, Inline, Link, Mention, MessageLink, Moment, Paragraph, Quote, Text
from tertulia.archives.converting.values import Json, inner, objects, string

MOST_CARDS = 25


def cards_of(said: Json, names: Names) -> list[Block]:
    """Cards. What only repeats an address of the text is none: whoever reads it here sees a preview anyway."""
    text = string(said.get("content"))
    blocks: list[Block] = []
    for card in objects(said.get("embeds"))[:MOST_CARDS]:
        url = string(card.get("url"))
        if url and url in text:
            continue
        if inside := _card(card, names):
            blocks.append(Quote(inside))
    return blocks


def answered(sender: int, place: tuple[int, int]) -> Block:
    """A line that leads to what a message answers."""
    said: list[Inline] = [Mention(sender, silent=True), Text(" ")] if sender else []
    return Quote([Paragraph([*said, MessageLink(*place, "", "wrote" if sender else "an earlier message")])])


def _card(card: Json, names: Names) -> list[Block]:
    blocks: list[Block] = []
    author, footer = inner(card.get("author")), inner(card.get("footer"))
    for name, url in (
        (string(author.get("name")), string(author.get("url"))),
        (string(card.get("title")), string(card.get("url"))),
    ):
        if name.strip():
            blocks.append(Paragraph([link(url, name, names) if url else Text(name.strip(), bold=True)]))
        elif url:
            blocks.append(Paragraph([link(url, "", names)]))
    blocks += parse(string(card.get("description")), names)
    for field in objects(card.get("fields")):
        title = string(field.get("name")).replace("\u200b", "").strip()
        label: list[Inline] = [Text(f"{title}:", bold=True), Text(" ")] if title else []
        value = parse_inline(string(field.get("value")), names)
        if label or any(not isinstance(one, Text) or one.text.strip() for one in value):
            blocks.append(Paragraph([*label, *value]))
    for url in dict.fromkeys(_pictures(card)):
        blocks.append(Paragraph([Link(url)]))
    last: list[Inline] = [Text(string(footer.get("text")).strip())] if string(footer.get("text")).strip() else []
    if (at := _moment(card.get("timestamp"))) is not None:
        last += [*([Text(" ")] if last else []), Moment(at)]
    return [*blocks, Paragraph(last)] if last else blocks


def _pictures(card: Json) -> list[str]:
    """Where they are on the web; copies that the exporter made have an address of theirs beside."""
    shown = [inner(card.get("image")), *objects(card.get("images")), inner(card.get("video"))]
    found = [string(one.get("canonicalUrl")) or string(one.get("url")) for one in shown]
    return [url for url in found if url.startswith("https://")]


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None and 1990 < found.year < 9000 else None
