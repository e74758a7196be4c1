"""Whoever reacts takes part in the topic, and may want to follow it from then on."""

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.topics.actions import set_policies
from tertulia.conversations.topics.model import Topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import server_not_ready
from tertulia.messaging.reactions import queries
from tertulia.messaging.reading.access import Reached
from tertulia.messaging.sending.participants import add_participants
from tertulia.organization.realms.settings import settings_of
from tertulia.people.preferences.model import TopicTrigger
from tertulia.people.preferences.queries import get_settings


async def take_part(tx: Transaction, caller: Caller, message: Reached, held_topic: int | None) -> None:
    """Note that the caller takes part, and do what their settings say about topics they take part in.

    `held_topic`: the message's topic, held before the message was: movers hold topics first.
    """
    if message.topic_id is None or message.topic is None:
        return
    if message.topic_id != held_topic:
        raise server_not_ready("This message was moved at this very moment. Please try again.")
    await add_participants(tx, message.topic_id, [caller.user_id])
    if caller.is_bot:
        return
    settings, _ = await get_settings(tx, caller.user_id)
    chosen = None
    if settings.automatically_follow_topics_policy == TopicTrigger.PARTICIPATION.value:
        chosen = TopicPolicy.FOLLOWED
    elif (
        settings.automatically_unmute_topics_in_muted_streams_policy == TopicTrigger.PARTICIPATION.value
        and await queries.is_muted(tx, message.conversation_id, caller.user_id)
    ):
        chosen = TopicPolicy.UNMUTED
    if chosen is not None:
        topic = Topic(message.topic_id, message.conversation_id, message.topic)
        realm = settings_of(caller)
        await set_policies(tx, caller.realm_id, realm, topic, {caller.user_id: chosen}, keep=(TopicPolicy.FOLLOWED,))
