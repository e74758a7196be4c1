"""From what somebody wrote to what is stored and told of it."""

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.markup import TopicLink
from tertulia.messages.places import Place
from tertulia.messages.rules import render_plain


class Composed(msgspec.Struct, frozen=True):
    """A text, rendered, with all that follows from it."""

    content: str
    html: str
    facts: int = 0
    mentioned: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    group_mentioned: tuple[int, ...] = ()
    alerting: tuple[str, ...] = ()
    topic_links: tuple[TopicLink, ...] = ()
    widget: str | None = None


class Composer:
    """Renders texts."""

    async def compose(self, _sender: Caller, _place: Place, content: str) -> Composed:
        """The text as it will be stored."""
        return Composed(content, render_plain(content))
