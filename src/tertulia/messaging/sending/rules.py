"""Pure decisions about messages: what `to` names, what content may be."""

import html
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from tertulia.conversations.channels.rules import no_such_id
from tertulia.kernel.errors import Refusal
from tertulia.kernel.json_guard import is_storable
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH

# Programs people read with: what they send, they have seen.
READING_CLIENTS = frozenset(
    [
        "zulipandroid",
        "zulipios",
        "zulipdesktop",
        "zulipmobile",
        "zulipelectron",
        "zulipterminal",
        "zulipflutter",
        "snipe",
        "website",
        "ios",
        "android",
        "tertuliaweb",
    ]
)

# Participants travel in every event of their conversation, and each has a row: a crowd belongs into a channel.
MAX_RECIPIENTS = 250

MessageType = Literal["direct", "private", "channel", "stream"]


class ToChannel(msgspec.Struct, frozen=True):
    """A channel, by id or name, and the topic as sent."""

    channel: int | str
    topic: str


class ToPeople(msgspec.Struct, frozen=True):
    """People, by ids or by email addresses."""

    ids: tuple[int, ...] = ()
    emails: tuple[str, ...] = ()


def address(type: MessageType, to: Any, topic: Callable[[], str | None]) -> ToChannel | ToPeople:
    """Where a message goes, as the request says it. Of a direct message the topic is not even read."""
    if type in ("direct", "private"):
        return people_of(to)
    channel = channel_of(to)
    about = topic()
    if about is None:
        raise Refusal("Missing 'topic' argument: a channel message needs one.")
    return ToChannel(channel, about)


def channel_of(to: Any) -> int | str:
    """The channel `to` names: a name, an id, or a list of one of them."""
    if isinstance(to, list):
        if len(to) != 1:
            raise Refusal("A message goes to exactly one channel.")
        [to] = to
    if to is None:
        raise Refusal("Missing 'to' argument: which channel?")
    if isinstance(to, bool) or not isinstance(to, int | str):
        raise Refusal("to is neither a channel's name nor its ID.")
    if unknown := no_such_id(to):
        raise unknown
    return to


def people_of(to: Any) -> ToPeople:
    """The people `to` names: a list of ids, a list of addresses, one id, or addresses with commas between them."""
    if isinstance(to, str):
        to = [part.strip() for part in to.split(",")]
    elif isinstance(to, int) and not isinstance(to, bool):
        to = [to]
    if to is None:
        to = []
    if not isinstance(to, list):
        raise Refusal("to is neither a list of user IDs nor a list of email addresses.")
    named = [part for part in to if part != ""]
    if not named:
        raise Refusal("A message needs recipients.")
    if len(named) > MAX_RECIPIENTS:
        raise Refusal(f"A direct message has at most {MAX_RECIPIENTS} recipients: use a channel for more.")
    if all(isinstance(part, int) and not isinstance(part, bool) for part in named):
        for user_id in named:
            if not is_storable(user_id):
                raise no_such_user(user_id)
        return ToPeople(ids=_unique(named))
    if all(isinstance(part, str) for part in named):
        return ToPeople(emails=_unique([part.strip() for part in named]))
    raise Refusal("A list of recipients has either user IDs or email addresses, not both.")


def no_such_user(user_id: int) -> Refusal:
    """The refusal for an id that nobody has."""
    return Refusal(f"There is no user with the ID {user_id}.")


def clean_content(content: str) -> str:
    """A message's text as it is stored. Leading spaces stay: they may be indented code."""
    if "\0" in content:
        raise Refusal("A message can't contain null bytes.")
    content = content.rstrip().lstrip("\r\n")
    if not content:
        raise Refusal("A message can't be empty.")
    if len(content) > MAX_MESSAGE_LENGTH:
        raise Refusal(f"The message is too long (limit: {MAX_MESSAGE_LENGTH} characters).")
    return content


def render_plain(content: str) -> str:
    """Content as safe HTML: escaped, with its lines kept. Markup comes with the markup feature."""
    return "<p>" + html.escape(content).replace("\n", "<br>\n") + "</p>"


def direct_refused(reason: str, gone: str = "") -> Refusal:
    """The refusal of a direct message for what `direct_refusal` in the database says. `gone`: who reads no more."""
    words = {
        "inactive": f"'{gone}' is deactivated and no longer reads messages here.",
        "disabled": "Direct messages are turned off in this organization.",
        "unauthorized": "Nobody in this conversation may allow it: add somebody who may.",
        "initiate": "You don't have the permission to begin direct conversations; you may answer in those you are in.",
    }
    return Refusal(words[reason])


def is_me_message(content: str) -> bool:
    """Whether the message tells what its sender does."""
    return content.startswith("/me ")


def is_read_by_sender(asked: bool | None, client: str) -> bool:
    """Whether the sender has read their own message: as asked, else if a person's program sent it."""
    return client.lower() in READING_CLIENTS if asked is None else asked


def _unique(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))
