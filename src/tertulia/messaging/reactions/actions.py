"""Reacting to a message, and taking it back."""

import msgspec

from tertulia.events.log.record import record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import full
from tertulia.kernel.compat import emoji_type_of
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.reactions import queries
from tertulia.messaging.reactions.bounds import EMOJI, OWN_REACTIONS, REACTIONS
from tertulia.messaging.reactions.events import Reacted
from tertulia.messaging.reactions.participation import take_part
from tertulia.messaging.reading.access import Reached, hold_message, no_such_message
from tertulia.messaging.reading.audiences import audience_of
from tertulia.organization.custom_emoji.choosing import INVALID_CODE, by_name, check_type, choose, complete, is_known
from tertulia.organization.custom_emoji.model import Emoji
from tertulia.people.users.queries import guests_missing


async def react(
    tx: Transaction, caller: Caller, message_id: int, name: str, code: str | None, reaction_type: str | None
) -> None:
    """Put an emoji to a message."""
    held_topic = await queries.hold_topic_of(tx, message_id)
    message = await _hold(tx, caller, message_id)
    code, reaction_type = await complete(tx, caller.realm_id, name, code, reaction_type)
    # Whoever joins in uses the name that is there, and may do so with an emoji that is out of use by now.
    first, counts = await queries.find_first(tx, message_id, caller.user_id, code, reaction_type)
    emoji = first or await choose(tx, caller.realm_id, name, code, reaction_type)
    if not await queries.insert_reaction(tx, message_id, caller.user_id, emoji):
        raise Refusal("You have reacted with this emoji already.", code="REACTION_ALREADY_EXISTS")
    _check_room(tx, counts, is_new=first is None)
    await take_part(tx, caller, message, held_topic)
    await _tell(tx, caller, message, "add", emoji)


def _check_room(tx: Transaction, before: queries.Counts, *, is_new: bool) -> None:
    """The message is held, so nobody else counts."""
    after = ((OWN_REACTIONS, before.own + 1), (EMOJI, before.emoji + is_new), (REACTIONS, before.total + 1))
    for bound, count in after:
        if count > tx.bounds.limit(bound):
            raise full(bound, tx.bounds.limit(bound))


async def take_back(
    tx: Transaction, caller: Caller, message_id: int, name: str | None, code: str | None, reaction_type: str | None
) -> None:
    """Take a reaction of one's own off a message. The code says which; a name alone is enough."""
    if name is None and code is None:
        raise Refusal("Say which reaction to remove: at least one of emoji_name and emoji_code is needed.")
    message = await _hold(tx, caller, message_id)
    if reaction_type is not None:
        reaction_type = emoji_type_of(reaction_type)
        check_type(reaction_type)
    own = await queries.reactions_of(tx, message_id, caller.user_id)
    emoji = _find(own, name, code, reaction_type)
    if emoji is None and code is None and name is not None:
        named = await by_name(tx, caller.realm_id, name)
        if named is None:
            raise Refusal(f"There is no emoji named '{name}'.")
        if reaction_type in (None, named.reaction_type):
            emoji = _find(own, None, named.emoji_code, named.reaction_type)
    if emoji is None:
        if code is not None and not await is_known(tx, caller.realm_id, code, reaction_type):
            raise Refusal(INVALID_CODE)
        raise Refusal("You have not reacted with this emoji.", code="REACTION_DOES_NOT_EXIST")
    await queries.delete_reaction(tx, message_id, caller.user_id, emoji)
    await _tell(tx, caller, message, "remove", emoji)


def _find(own: list[Emoji], name: str | None, code: str | None, reaction_type: str | None) -> Emoji | None:
    """The first reaction that fits what is said of it; of code and name the code decides."""
    for emoji in own:
        fits = emoji.emoji_name == name if code is None else emoji.emoji_code in (code, code.lower())
        if fits and reaction_type in (None, emoji.reaction_type):
            return emoji
    return None


async def _hold(tx: Transaction, caller: Caller, message_id: int) -> Reached:
    message = await hold_message(tx, caller, message_id)
    if message.is_archived:
        raise no_such_message()
    return message


async def _tell(tx: Transaction, caller: Caller, message: Reached, op: str, emoji: Emoji) -> None:
    unknown: tuple[int, ...] = ()
    if message.participants is None and not message.is_subscribed:
        unknown = await guests_missing(tx, caller.realm_id, message.conversation_id, caller.user_id)
    reacted = Reacted(
        op=op,
        message_id=message.id,
        user_id=caller.user_id,
        emoji=emoji,
        email=caller.api_email,
        full_name=caller.full_name,
        domain=caller.fake_domain if unknown else "",
        unknown_to=unknown,
    )
    audience = await audience_of(tx, message)
    if not message.is_subscribed:
        audience = msgspec.structs.replace(audience, users=(*audience.users, caller.user_id))
    tx.emit(caller.realm_id, record(audience, "reaction", reacted))
