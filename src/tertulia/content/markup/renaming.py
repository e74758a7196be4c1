"""Giving a mentioned person another name, in a text and in the HTML that was made of it (pure).

The HTML is changed where it stands and not made anew: names in it may mean somebody else by now, and what it shows of files and
pages would have to be found again. Which name the text has is read from the HTML, so that it does not matter what the person
was called when it was written.
"""

import re
from collections.abc import Iterable
from html import unescape

from tertulia.content.markup.escaping import escape


def mark_of(user_id: int) -> str:
    """What HTML has in it that mentions somebody."""
    return f'data-user-id="{user_id}"'


def renamed(text: str, html: str, user_id: int, name: str) -> tuple[str, str]:
    """Both with another name for whom they mention."""
    span = re.compile(rf'(<span class="user-mention(?: silent)?" {mark_of(user_id)}>)(@?)([^<]*)(</span>)')
    former = {unescape(found[3]) for found in span.finditer(html)}
    html = span.sub(lambda found: f"{found[1]}{found[2]}{escape(name)}{found[4]}", html)
    return renamed_text(text, former, user_id, name), html


def renamed_text(text: str, former: Iterable[str], user_id: int, name: str) -> str:
    """A text with another name where it mentions somebody: by their number, or by one of their former names alone."""
    instead = f"**{name}|{user_id}**"
    text = re.sub(rf"(@_?)\*\*[^*|]*\|{user_id}\*\*", lambda found: found[1] + instead, text)
    for one in former:
        pattern = re.compile(rf"(@_?)\*\*{re.escape(one)}\*\*", re.IGNORECASE)
        text = pattern.sub(lambda found: found[1] + instead, text)
    return text
