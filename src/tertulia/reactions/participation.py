"""Whoever reacts takes part in the topic, and may want to follow it from then on."""

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import server_not_ready
from tertulia.messages.access import Reached
from tertulia.preferences.queries import get_settings
from tertulia.reactions import queries
from tertulia.realms.settings import decode_settings
from tertulia.topics.actions import set_policies
from tertulia.topics.model import Policy, Topic

ON_PARTICIPATION = 1


async def take_part(tx: Transaction, caller: Caller, message: Reached, held_topic: int | None) -> None:
    """Note that the caller takes part, and do what their settings say about topics they take part in.

    `held_topic`: the message's topic, held before the message was: movers hold topics first.
    """
    if message.topic_id is None or message.topic is None:
        return
    if message.topic_id != held_topic:
        raise server_not_ready("This message was moved at this very moment. Please try again.")
    await queries.insert_participant(tx, message.topic_id, caller.user_id)
    if caller.is_bot:
        return
    settings, _ = await get_settings(tx, caller.user_id)
    wish = None
    if settings.automatically_follow_topics_policy == ON_PARTICIPATION:
        wish = Policy.FOLLOWED
    elif settings.automatically_unmute_topics_in_muted_streams_policy == ON_PARTICIPATION and await queries.is_muted(
        tx, message.conversation_id, caller.user_id
    ):
        wish = Policy.UNMUTED
    if wish is not None:
        topic = Topic(message.topic_id, message.conversation_id, message.topic)
        realm = decode_settings(caller.realm_settings)
        await set_policies(tx, caller.realm_id, realm, topic, {caller.user_id: wish}, keep=(Policy.FOLLOWED,))
