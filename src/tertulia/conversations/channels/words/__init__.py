"""What the notification bot says about channels and subscriptions, and to a new organization."""

from typing import Literal

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of

Kind = Literal["web_public", "public", "private_shared", "private_protected"]


class Words(languages.Words, frozen=True):
    """In one language."""

    new_channels: str
    """The topic for announcements."""
    channel_events: str
    """The topic, in each channel, for what happens to it."""
    signups: str
    """The topic for newcomers."""
    first_topic: str
    """The topic of the first words."""
    first_words: tuple[str, ...]
    kinds: dict[Kind, str]
    created: str
    description: str
    no_description: str
    announced: str
    announced_several: str
    subscribed: str
    subscribed_several: str
    and_more: str
    list_and: str
    list_comma: str
    joined: str
    renamed: str
    description_changed: str
    description_now: str
    none: str
    privacy_changed: str
    archived: str
    unarchived: str


def kind_of(*, is_web_public: bool, is_private: bool, shares: bool) -> Kind:
    """What kind of channel it is. `shares`: whoever joins a private one reads what was said before."""
    if not is_private:
        return "web_public" if is_web_public else "public"
    return "private_shared" if shares else "private_protected"


words_of = reader_of(__name__, Words)
