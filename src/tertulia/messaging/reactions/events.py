"""How a reaction looks to those who hear of it."""

from collections.abc import Hashable

import msgspec

from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.kernel.auth import fake_email
from tertulia.kernel.compat import emoji_type_for, old_reaction_keys
from tertulia.organization.custom_emoji.model import Emoji
from tertulia.people.users.visibility.actions import UNKNOWN_NAME

_encode = msgspec.json.Encoder().encode


class Reacted(msgspec.Struct, frozen=True, omit_defaults=True):
    """The log's event of a reaction."""

    op: str
    message_id: int
    user_id: int
    emoji: Emoji
    email: str
    full_name: str
    domain: str = ""
    """Where made-up addresses seem to be."""
    unknown_to: tuple[int, ...] = ()
    """Guests who do not see who reacted."""


_decoder = msgspec.json.Decoder(Reacted)


class ReactionPresenter:
    """Shows `reaction` events."""

    def variant(self, logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        reacted = _reacted(logged)
        return emoji_type_for(
            reacted.emoji.reaction_type, listener.options.client
        ), listener.user_id in reacted.unknown_to

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        reacted = _reacted(logged)
        email, full_name = reacted.email, reacted.full_name
        if listener.user_id in reacted.unknown_to:
            email, full_name = fake_email(reacted.user_id, reacted.domain), UNKNOWN_NAME
        event = {
            "op": reacted.op,
            "message_id": reacted.message_id,
            "user_id": reacted.user_id,
            "emoji_name": reacted.emoji.emoji_name,
            "emoji_code": reacted.emoji.emoji_code,
            "reaction_type": emoji_type_for(reacted.emoji.reaction_type, listener.options.client),
            **old_reaction_keys(reacted.user_id, email, full_name),
        }
        return _encode(event)[1:-1]


def _reacted(logged: LoggedEvent) -> Reacted:
    if logged.decoded is None:
        logged.decoded = _decoder.decode(logged.record.event)
    assert isinstance(logged.decoded, Reacted)
    return logged.decoded
