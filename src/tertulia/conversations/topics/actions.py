"""Deciding about topics."""

from collections.abc import Collection, Mapping, Sequence

from tertulia.conversations.channels.access import find_channel, get_active_channel
from tertulia.conversations.channels.rules import name_key_of, no_such_channel
from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.topics import queries
from tertulia.conversations.topics.bounds import MUTED, POLICIES
from tertulia.conversations.topics.events import muted_topics_told, muted_topics_untold, policies_decided
from tertulia.conversations.topics.model import Decided, Topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count, hold_count
from tertulia.kernel.db import Transaction
from tertulia.organization.realms.settings import RealmSettings, settings_of

MOST_TOLD = 100_000
"""How many muted topics the lists of those whom one change concerns have together: about 5 MB of events."""
PORTION = 500
"""So many people's lists are read at a time."""


async def set_policy(tx: Transaction, caller: Caller, named: int | str, topic: str, policy: TopicPolicy) -> bool:
    """Set the caller's policy for a topic that need not have messages; returns whether it changed."""
    if policy is TopicPolicy.NONE:
        return await clear_policy(tx, caller, named, topic)
    channel = await get_active_channel(tx, caller, named)
    found = await get_topic(tx, channel.id, topic)
    return await _decide_alone(tx, caller, found, policy)


async def clear_policy(tx: Transaction, caller: Caller, named: int | str, topic: str) -> bool:
    """Forget the caller's policy for a topic: also in a channel that is archived, or that they do not see any more."""
    channel = (named, None) if isinstance(named, int) else (None, name_key_of(named))
    found = await queries.find_decided_topic(tx, caller.user_id, caller.realm_id, channel, name_key_of(topic))
    if found is not None:
        return await _decide_alone(tx, caller, found, TopicPolicy.NONE)
    if await find_channel(tx, caller, named) is None and not await queries.has_known(
        tx, caller.user_id, caller.realm_id, channel
    ):
        raise no_such_channel(named)
    return False


async def set_policies(
    tx: Transaction,
    realm_id: int,
    settings: RealmSettings,
    topic: Topic,
    chosen: Mapping[int, TopicPolicy],
    *,
    keep: Collection[TopicPolicy] = (),
) -> list[Decided]:
    """Set the policies of several users on one topic, by themselves: what a message does to those it concerns.

    Whoever's policy is among `keep` keeps it. Three statements at most, however many users; the changed ones.
    """
    if not chosen:
        return []
    tx.allow_many_events()  # one for each who mutes the topic
    await queries.lock_deciders(tx, list(chosen))
    decided = await queries.decide(tx, topic.id, chosen, keep)
    listed = [one.user_id for one in decided if TopicPolicy.MUTED in (one.old, one.new)]
    await tell_muted(tx, realm_id, settings, listed)
    for told in policies_decided(settings, topic, decided):
        tx.emit(realm_id, told)
    return decided


async def tell_muted(tx: Transaction, realm_id: int, settings: RealmSettings, user_ids: Sequence[int]) -> None:
    """Older clients know muted topics only: they are told all of their list when it has changed.

    A topic that thousands mute is changed by one person: their lists together are bounded, and others have their turn.
    """
    if user_ids and await queries.count_muted(tx, user_ids, MOST_TOLD) > MOST_TOLD:
        tx.emit(realm_id, muted_topics_untold(user_ids))
        return
    for start in range(0, len(user_ids), PORTION):
        for muted in await queries.muted_lists(tx, user_ids[start : start + PORTION]):
            tx.emit(realm_id, muted_topics_told(settings, muted))


async def get_topic(tx: Transaction, channel_id: int, name: str) -> Topic:
    """The topic of that name, which it keeps until the commit; made now, without messages, if there is none."""
    key = name_key_of(name)
    while True:
        found = await queries.hold_topic(tx, channel_id, key) or await queries.insert_topic(tx, channel_id, name, key)
        if found is not None:
            return found


async def _decide_alone(tx: Transaction, caller: Caller, topic: Topic, policy: TopicPolicy) -> bool:
    settings = settings_of(caller)
    await queries.lock_deciders(tx, [caller.user_id])
    decided = await queries.decide(tx, topic.id, {caller.user_id: policy}, ())
    if not decided:
        return False
    if policy is TopicPolicy.MUTED:
        await hold_count(tx, MUTED, caller.person_id)
        await check_count(tx, MUTED, caller.person_id, adding=0)
    if policy is not TopicPolicy.NONE:
        await check_count(tx, POLICIES, caller.user_id, adding=0)
    await tell_muted(tx, caller.realm_id, settings, [caller.user_id])
    for told in policies_decided(settings, topic, decided):
        tx.emit(caller.realm_id, told)
    return True
