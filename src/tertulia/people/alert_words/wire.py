"""What clients see of alert words."""

from typing import Literal

from tertulia.events.wire import Event


class AlertWordsEvent(Event, frozen=True, kw_only=True):
    """Your alert words changed: all of them."""

    type: Literal["alert_words"]
    alert_words: list[str]


KEYS = {
    "alert_words": list[str],
}
