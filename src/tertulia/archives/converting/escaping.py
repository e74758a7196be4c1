"""Words that must be read as they are, written so that our Markdown sees no markup in them (pure).

There are no backslashes in our dialect, but entities are read everywhere outside code: `&#42;` is a star that makes nothing
bold. Only what would mean something is written so, because people edit the text later. Addresses are found by themselves, and
entities in them are not read: so a word in which something must be escaped is kept from being one.
"""

import re
from html.entities import html5

from tertulia.content.emoji import EXTRA_EMOJI, find_code

_HARMLESS = re.compile(r"[\w ,'\"?()/=+-]*")
"""Most words."""
_WORDS = re.compile(r"(\s+)")
_SPECIAL = re.compile(
    r"&(?:#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6})|[A-Za-z][A-Za-z0-9]{1,31});"  # an entity
    r"|\*+|~{2,}|`|\${2,}|<(?=time:)|\](?=\()"
    r"|:(?=(?:[^\W_A-Z][\w-]*|[+-]1):)"  # the name of an emoji
)
_INNER_DOT = re.compile(r"(?<=\w)\.(?=\w)")
_SCHEME_COLON = re.compile(r"(?<=[A-Za-z]):(?=//|[13])")
_EMOJI = re.compile(r":([^\W_A-Z][\w-]*|[+-]1):")
_LINE_START = re.compile(
    r"(?P<sign>>)|(?P<hashes>#)(?=#{0,5}(?:[ \t]|$))|(?P<bullet>[+*-])(?=[ \t]|$)|\d{1,9}(?P<dot>\.)(?=[ \t]|$)"
    r"|(?P<rule>[-_*|:])(?=[-_*|: \t]*$)"
)
_LAST_SIGN = {
    "*": re.compile(r"(?:@_?|#)\Z"),
    ":": re.compile(r":[\w+-]*\Z"),
    "[": re.compile(r"!\Z"),
}
"""What makes something else of markup that begins with this sign, if it stands right before it."""
_COMMAND = re.compile(r"/(?=(?:me|poll|todo)\b)")
_LINK_NAME = re.compile(r"[\[\]]")


def escape_words(text: str, *, glued_before: bool = False, after: str = "") -> str:
    """Running text, within one line. `glued_before`: markup of ours stands directly before; `after`: what it begins with."""
    if _HARMLESS.fullmatch(text):
        return text
    parts = _WORDS.split(text)
    last = len(parts) - 1
    for place in range(0, len(parts), 2):
        is_last = place == last and bool(after)
        parts[place] = _escape_word(parts[place], (place == 0 and glued_before) or is_last)
        if is_last and (sign := _LAST_SIGN.get(after)):
            parts[place] = sign.sub(_last, parts[place])
    return "".join(parts)


def escape_label(text: str) -> str:
    """The name of a link: its brackets are escaped too, and no address is found in it."""
    return _LINK_NAME.sub(_entity, escape_words(text))


def escape_line_start(line: str) -> str:
    """A line of words and markup that is to begin no list, quote, header, table or rule across."""
    found = _LINE_START.match(line)
    if found is None:
        return line
    place = next(found.start(name) for name in ("sign", "hashes", "bullet", "dot", "rule") if found[name])
    return line[:place] + _coded(line[place]) + line[place + 1 :]


def escape_command(text: str) -> str:
    """The beginning of a message, which is to be no command."""
    return "&#47;" + text[1:] if _COMMAND.match(text) else text


def _escape_word(word: str, glued: bool) -> str:
    if word == "*" and not glued:
        return word  # alone it means nothing, but at the start of a line
    escaped = _SPECIAL.sub(_special, word)
    if escaped != word or glued:
        escaped = _SCHEME_COLON.sub("&#58;", _INNER_DOT.sub("&#46;", escaped))
    return escaped


def _last(found: "re.Match[str]") -> str:
    return _coded(found[0][0]) + found[0][1:]


def _special(found: "re.Match[str]") -> str:
    text = found[0]
    if text[0] == "&":
        return f"&amp;{text[1:]}" if text[1] == "#" or text[1:] in html5 else text
    if text == ":":
        name = _EMOJI.match(found.string, found.start())
        is_emoji = name is not None and (find_code(name[1]) is not None or name[1] == EXTRA_EMOJI)
        return "&#58;" if is_emoji else text
    return "".join(_coded(sign) for sign in text)


def _entity(found: "re.Match[str]") -> str:
    return _coded(found[0])


def _coded(sign: str) -> str:
    return {"<": "&lt;", ">": "&gt;"}.get(sign) or f"&#{ord(sign)};"
