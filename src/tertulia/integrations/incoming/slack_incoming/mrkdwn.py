"""Slack's way to write, in ours. What is not special there is made sure not to be special here."""

import re

from tertulia.integrations.incoming.wording import line, link, name_nobody, plain

EVERYBODY = "@**all**"
"""What `<!channel>` and its like become: a program wrote it on purpose, because in outsiders' text they are escaped."""

_CALL = "\ufdd0"  # no character: it stands for everybody until the end
_TAG = re.compile(r"<([^<>\n]{1,2000})>")
_LOOKS = re.compile(r"(?<![\w*_~`])([*_~])(?=[^\s*_~])([^\n*_~`<>]*[^\s*_~`<>])\1(?![\w*_~`])")
_MARKS = {"*": "**", "_": "*", "~": "~~"}
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def convert(text: str) -> str:
    """A text of Slack's as one of ours."""
    pieces, done = [], 0
    for tag in _TAG.finditer(text := text.replace(_CALL, "")):
        pieces += [_words(text[done : tag.start()]), _tag(tag[1])]
        done = tag.end()
    # Two harmless pieces can make a mention together: the call to everybody is put in only after looking for that.
    return name_nobody("".join([*pieces, _words(text[done:])])).replace(_CALL, EVERYBODY).strip()


def _words(text: str) -> str:
    shown = re.sub("&(?:lt|gt|amp);", lambda found: _ENTITIES[found[0]], text)
    return plain(_LOOKS.sub(lambda found: _MARKS[found[1]] + found[2] + _MARKS[found[1]], shown))


def _tag(inside: str) -> str:
    """`<what|label>`: an address, a person, a channel, or something said to everybody."""
    what, _, label = inside.partition("|")
    shown = line(label).replace("[", "(").replace("]", ")") if label else ""
    if what.startswith(("!channel", "!here", "!everyone")):
        return _CALL
    if what.startswith(("@", "#", "!")):
        return plain(f"{what[0].replace('!', '')}{shown or line(what[1:])}")
    if what.startswith("mailto:"):
        return shown or line(what.removeprefix("mailto:"))
    address = what.replace("&amp;", "&")
    return link(shown or "link", address) if shown and shown != address else plain(address)
