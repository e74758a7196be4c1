"""What people decided about a topic goes with it when all of it moves."""

from collections.abc import Sequence

from tertulia.edits import statements
from tertulia.edits.statements import PolicyPair
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.realms.settings import decode_settings
from tertulia.topics.actions import set_policies
from tertulia.topics.events import muted_topics_told, policies_decided
from tertulia.topics.model import Decided, Policy, Topic
from tertulia.topics.queries import lock_deciders, muted_topics

_VISIBLE = (Policy.MUTED, Policy.NONE, Policy.UNMUTED, Policy.FOLLOWED)
"""From hidden to visible."""


def more_visible(one: int, other: int) -> Policy:
    """Which of two decisions hides less (pure)."""
    return max(Policy(one), Policy(other), key=_VISIBLE.index)


async def tell_renamed(tx: Transaction, caller: Caller, old: Topic, new: Topic) -> None:
    """The same topic has another name: whoever decided about it is told so.

    Those who cannot read it any more do not learn the name: what they decided ends with the one they know.
    """
    known = await statements.policies_of(tx, new.id, None, new.channel_id)
    if not known:
        return
    settings = decode_settings(caller.realm_settings)
    await lock_deciders(tx, [pair.user_id for pair in known])
    outside = {pair.user_id: Policy.NONE for pair in known if not pair.keeps}
    await set_policies(tx, caller.realm_id, settings, old, outside)
    pairs = [pair for pair in known if pair.keeps]
    now = await statements.renew_policies(tx, new.id)
    muted = [pair.user_id for pair in pairs if pair.policy == Policy.MUTED]
    lists = await muted_topics(tx, muted) if muted else {}
    gone = [Decided(pair.user_id, pair.policy, Policy.NONE, now) for pair in pairs]
    come = [Decided(pair.user_id, Policy.NONE, pair.policy, now) for pair in pairs]
    records = [*policies_decided(settings, old, gone), *policies_decided(settings, new, come)]
    for told in (*muted_topics_told(settings, lists), *records):
        tx.emit(caller.realm_id, told)


async def carry(tx: Transaction, caller: Caller, old: Topic, new: Topic, *, merges: bool) -> None:
    """All messages of one topic went into another: so do decisions. If both had messages, the more visible one wins."""
    pairs = await statements.policies_of(tx, old.id, new.id, new.channel_id)
    wishes = {pair.user_id: _wish(pair, merges=merges) for pair in pairs if pair.keeps}
    await clear(tx, caller, old, pairs)
    await set_policies(tx, caller.realm_id, decode_settings(caller.realm_settings), new, wishes)


async def clear(tx: Transaction, caller: Caller, topic: Topic, pairs: Sequence[PolicyPair] | None = None) -> None:
    """Nobody has decided anything about this topic any more."""
    known = await statements.policies_of(tx, topic.id, None, topic.channel_id) if pairs is None else pairs
    nothing = {pair.user_id: Policy.NONE for pair in known if pair.policy}
    await set_policies(tx, caller.realm_id, decode_settings(caller.realm_settings), topic, nothing)


def _wish(pair: PolicyPair, *, merges: bool) -> Policy:
    if merges:
        return more_visible(pair.policy, pair.other)
    return Policy(pair.policy or pair.other)


async def restore(tx: Transaction, caller: Caller, topic: Topic, pairs: Sequence[PolicyPair]) -> None:
    """What was decided about a name before the topic had it, by those who had not decided about the topic."""
    wishes = {pair.user_id: Policy(pair.policy) for pair in pairs if pair.keeps}
    await set_policies(tx, caller.realm_id, decode_settings(caller.realm_settings), topic, wishes)
