"""What clients see of saved snippets."""

from typing import Literal

from tertulia.events.wire import Event
from tertulia.messaging.snippets.model import Snippet


class SavedSnippetsEvent(Event, frozen=True, kw_only=True):
    """A snippet was saved or changed."""

    type: Literal["saved_snippets"]
    op: Literal["add", "update"]
    saved_snippet: Snippet


class SavedSnippetsRemoveEvent(Event, frozen=True, kw_only=True):
    """A snippet was deleted."""

    type: Literal["saved_snippets"]
    op: Literal["remove"]
    saved_snippet_id: int


KEYS = {
    "saved_snippets": list[Snippet],
}
