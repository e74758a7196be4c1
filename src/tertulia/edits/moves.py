"""Moving messages: what moves and where to, whether the caller may, and doing it.

Inside a channel a whole topic that goes to a free name is renamed, one row; anything else changes the topic of the
messages. To another channel they go one by one, with new numbers, and what people had read of them goes along.
"""

from datetime import timedelta

import msgspec

from tertulia.channels.model import Channel
from tertulia.channels.rules import name_key_of
from tertulia.edits import policies, queries, statements
from tertulia.edits.model import Moving, Rights, Wish
from tertulia.edits.rules import GRACE, is_free_of_limits, is_over
from tertulia.edits.statements import Change, Selection, TopicRow
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import Reached
from tertulia.reads.change_queries import change_places
from tertulia.realms.settings import RealmSettings, decode_settings
from tertulia.topics.model import Topic
from tertulia.topics.rules import check_topic_policy, is_resolution


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A move that is allowed."""

    message: Reached
    source: Channel
    target: Channel
    """The same as the source for moves inside a channel."""
    topic: str
    selection: Selection
    is_whole: bool
    """No message stays behind in the topic."""
    is_rename: bool
    """The topic itself gets another name."""
    change: Change

    @property
    def old(self) -> Topic:
        """The topic that is left."""
        assert self.message.topic_id is not None
        assert self.message.topic is not None
        return Topic(self.message.topic_id, self.source.id, self.message.topic)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it goes to another channel."""
        return self.source.id != self.target.id

    @property
    def is_respelling(self) -> bool:
        """Only upper and lower case change: still the same topic."""
        return not self.is_elsewhere and name_key_of(self.topic) == name_key_of(self.old.name)

    @property
    def is_resolution(self) -> bool:
        """The topic is resolved, or that is taken back."""
        return not self.is_elsewhere and self.is_whole and is_resolution(self.old.name, self.topic)


class Moved(msgspec.Struct, frozen=True):
    """What has moved: each message with its old number, and with the new one."""

    before: list[Moving]
    after: list[Moving]


async def plan(
    tx: Transaction,
    caller: Caller,
    message: Reached,
    source: Channel,
    target: Channel | None,
    wish: Wish,
    rights: Rights,
) -> Plan:
    """What a move would be; a Refusal if the caller may not make it."""
    assert message.topic_id is not None
    assert message.topic is not None
    settings = decode_settings(caller.realm_settings)
    goal = target or source
    topic = message.topic if wish.topic is None else wish.topic
    existing = await statements.find_topic(tx, goal.id, name_key_of(topic))
    if existing is not None and existing.has_messages and existing.id != message.topic_id:
        topic = existing.name  # a topic has one spelling
    history = None
    if not source.history_public_to_subscribers:
        history = await queries.history_of(tx, source.id, caller.user_id)
    mode = wish.mode
    if target is None and name_key_of(topic) == name_key_of(message.topic):
        mode, history = "change_all", None
    selection = Selection(message.topic_id, mode, message.id, history)
    is_whole = await _is_whole(tx, selection)
    is_new = existing is None or not existing.has_messages or existing.id == message.topic_id
    found = Plan(
        message=message,
        source=source,
        target=goal,
        topic=topic,
        selection=selection,
        is_whole=is_whole,
        is_rename=target is None and is_whole and is_new,
        change=Change(
            user_id=caller.user_id,
            now=rights.now,
            prev_topic=None if topic == message.topic else message.topic,
            topic=None if topic == message.topic else topic,
            prev_channel_id=None if target is None else source.id,
            channel_id=None if target is None else target.id,
        ),
    )
    is_new = is_new and not found.is_respelling
    _check_rights(found, wish, rights, settings, is_new=is_new)
    if not (found.is_resolution or is_free_of_limits(rights)):
        await _check_ages(tx, found, wish, rights, settings)
    return found


async def _is_whole(tx: Transaction, selection: Selection) -> bool:
    if selection.mode == "change_all" and selection.history is None:
        return True
    return await statements.is_whole_topic(tx, selection)


def _check_rights(plan: Plan, wish: Wish, rights: Rights, settings: RealmSettings, *, is_new: bool) -> None:
    if plan.is_resolution:
        if not rights.may_resolve:
            raise Refusal("You don't have permission to resolve topics in this channel.")
    elif wish.topic is not None and not rights.may_move_within:
        raise Refusal("You don't have permission to edit this message.")
    if plan.is_elsewhere:
        _check_target(plan.target, rights)
    check_topic_policy(plan.topic, plan.target.topics_policy, settings)
    if is_new and not (plan.target.may_create_topic or plan.is_resolution):
        raise Refusal("You don't have permission to create new topics in this channel.")


def _check_target(target: Channel, rights: Rights) -> None:
    if not rights.may_move_out:
        raise Refusal("You don't have permission to move this message.")
    if not target.may_post:
        raise Refusal(f"You don't have the permission to post in the channel '{target.name}'.")
    if not target.may_send:
        raise Refusal(f"You can't send messages to the channel '{target.name}'.")


async def _check_ages(tx: Transaction, plan: Plan, wish: Wish, rights: Rights, settings: RealmSettings) -> None:
    if wish.topic is not None:
        await _check_age(tx, plan, rights, settings.move_messages_within_stream_limit_seconds, "topic")
    if plan.is_elsewhere:
        await _check_age(tx, plan, rights, settings.move_messages_between_streams_limit_seconds, "channel")


async def _check_age(tx: Transaction, plan: Plan, rights: Rights, limit: int | None, word: str) -> None:
    if limit is None:
        return
    if plan.selection.mode != "change_all":
        if is_over(plan.message.sent_at, rights.now, limit):
            raise Refusal(f"The time limit for editing this message's {word} has passed.")
        return
    oldest = rights.now - timedelta(seconds=limit) - GRACE
    if not await statements.is_older(tx, plan.selection, oldest):
        return
    ages = await statements.ages(tx, plan.selection, oldest)
    if ages.young == 0:
        raise Refusal("The time limit for moving this topic has passed.")
    if ages.young < ages.total:
        raise Refusal(
            f"You may move only the newest {ages.young} of the {ages.total} messages in this topic.",
            code="MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
            first_message_id_allowed_to_move=ages.first_young,
            total_messages_in_topic=ages.total,
            total_messages_allowed_to_move=ages.young,
        )


async def move(tx: Transaction, caller: Caller, plan: Plan) -> Moved:
    """Do it."""
    await change_places(tx, caller.realm_id)
    if plan.is_rename:
        return await _rename(tx, caller, plan)
    messages = await statements.selected(tx, plan.selection)
    target = await statements.hold_topic(tx, plan.target.id, plan.topic, name_key_of(plan.topic))
    await statements.hold_topics(tx, sorted({plan.old.id, target.id}))
    ids = [one.id for one in messages]
    await statements.write_revisions(tx, ids, plan.change)
    if plan.is_elsewhere:
        after = await _renumber(tx, plan, messages, target)
    else:
        await statements.move_to_topic(tx, ids, target.id)
        after = messages
    await _settle_topics(tx, caller, plan, ids, target)
    return Moved(messages, after)


async def _rename(tx: Transaction, caller: Caller, plan: Plan) -> Moved:
    """One row, and the newest messages for those who listen."""
    key = name_key_of(plan.topic)
    target = await statements.hold_topic(tx, plan.target.id, plan.topic, key)
    await statements.hold_topics(tx, sorted({plan.old.id, target.id}))
    new = Topic(plan.old.id, plan.target.id, plan.topic)
    wishes: list[statements.PolicyPair] = []
    if target.id != plan.old.id:
        # The name was free, or somebody had decided about it before there was such a topic.
        pairs = await statements.policies_of(tx, target.id, plan.old.id, plan.target.id)
        wishes = [pair for pair in pairs if pair.policy and not pair.other]
        await policies.clear(tx, caller, Topic(target.id, plan.target.id, target.name), pairs)
        await statements.delete_topics(tx, [target.id])
    await statements.rename_topic(tx, plan.old.id, plan.topic, key, plan.change)
    await policies.tell_renamed(tx, caller, plan.old, new)
    await policies.restore(tx, caller, new, wishes)
    history = plan.selection.history
    newest = await queries.newest_of_topic(tx, plan.old.id, history, queries.MAX_LISTED)
    return Moved(newest, newest)


async def _renumber(tx: Transaction, plan: Plan, messages: list[Moving], topic: TopicRow) -> list[Moving]:
    ids = [one.id for one in messages]
    numbers = await statements.move_to_channel(tx, ids, plan.target.id, topic.id)
    after = [Moving(one.id, numbers[one.id]) for one in messages]
    old_seqs, new_seqs = [one.seq for one in messages], [one.seq for one in after]
    await statements.carry_read_state(tx, plan.source.id, plan.target.id, old_seqs, new_seqs)
    return after


async def _settle_topics(tx: Transaction, caller: Caller, plan: Plan, ids: list[int], target: TopicRow) -> None:
    """Who takes part, which message is the newest, what people decided: right again on both sides."""
    people = await queries.participants_by(tx, ids)
    await statements.add_participants(tx, target.id, people)
    await queries.forget_participants(tx, plan.old.id, people)
    await queries.refresh_topics(tx, [plan.old.id, target.id])
    if plan.is_whole:
        new = Topic(target.id, plan.target.id, target.name)
        await policies.carry(tx, caller, plan.old, new, merges=target.has_messages)
        await statements.delete_topics(tx, [plan.old.id])
