"""What people decided about a topic goes with it when all of it moves."""

from collections.abc import Sequence

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.topics.actions import set_policies, tell_muted
from tertulia.conversations.topics.events import policies_decided
from tertulia.conversations.topics.model import Decided, Topic
from tertulia.conversations.topics.queries import lock_deciders, renew_policies
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing.moving import queries as statements
from tertulia.messaging.editing.moving.queries import PolicyPair
from tertulia.organization.realms.settings import settings_of

_VISIBLE = (TopicPolicy.MUTED, TopicPolicy.NONE, TopicPolicy.UNMUTED, TopicPolicy.FOLLOWED)
"""From hidden to visible."""


def more_visible(one: int, other: int) -> TopicPolicy:
    """Which of two decisions hides less (pure)."""
    return max(TopicPolicy(one), TopicPolicy(other), key=_VISIBLE.index)


async def tell_renamed(tx: Transaction, caller: Caller, old: Topic, new: Topic) -> None:
    """The same topic has another name: whoever decided about it is told so.

    Those who cannot read it any more do not learn the name: what they decided ends with the one they know.
    """
    known = await statements.policies_of(tx, new.id, None, new.channel_id)
    if not known:
        return
    settings = settings_of(caller)
    tx.allow_many_events()  # one for each who mutes the topic
    await lock_deciders(tx, [pair.user_id for pair in known])
    outside = {pair.user_id: TopicPolicy.NONE for pair in known if not pair.keeps}
    await set_policies(tx, caller.realm_id, settings, old, outside)
    pairs = [pair for pair in known if pair.keeps]
    now = await renew_policies(tx, new.id)
    muted = [pair.user_id for pair in pairs if pair.policy == TopicPolicy.MUTED]
    gone = [Decided(pair.user_id, pair.policy, TopicPolicy.NONE, now) for pair in pairs]
    come = [Decided(pair.user_id, TopicPolicy.NONE, pair.policy, now) for pair in pairs]
    records = [*policies_decided(settings, old, gone), *policies_decided(settings, new, come)]
    await tell_muted(tx, caller.realm_id, settings, muted)
    for told in records:
        tx.emit(caller.realm_id, told)


async def carry(tx: Transaction, caller: Caller, old: Topic, new: Topic, *, merges: bool) -> None:
    """All messages of one topic went into another: so do decisions. If both had messages, the more visible one wins."""
    pairs = await statements.policies_of(tx, old.id, new.id, new.channel_id)
    chosen = {pair.user_id: _chosen(pair, merges=merges) for pair in pairs if pair.keeps}
    await clear(tx, caller, old, pairs)
    await set_policies(tx, caller.realm_id, settings_of(caller), new, chosen)


async def clear(tx: Transaction, caller: Caller, topic: Topic, pairs: Sequence[PolicyPair] | None = None) -> None:
    """Nobody has decided anything about this topic any more."""
    known = await statements.policies_of(tx, topic.id, None, topic.channel_id) if pairs is None else pairs
    nothing = {pair.user_id: TopicPolicy.NONE for pair in known if pair.policy}
    await set_policies(tx, caller.realm_id, settings_of(caller), topic, nothing)


def _chosen(pair: PolicyPair, *, merges: bool) -> TopicPolicy:
    if merges:
        return more_visible(pair.policy, pair.other)
    return TopicPolicy(pair.policy or pair.other)


async def restore(tx: Transaction, caller: Caller, topic: Topic, pairs: Sequence[PolicyPair]) -> None:
    """What was decided about a name before the topic had it, by those who had not decided about the topic."""
    chosen = {pair.user_id: TopicPolicy(pair.policy) for pair in pairs if pair.keeps}
    await set_policies(tx, caller.realm_id, settings_of(caller), topic, chosen)
