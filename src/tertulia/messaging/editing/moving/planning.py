"""Planning a move: what moves and where to, and whether the caller may. Nothing is written here."""

from datetime import timedelta

import msgspec

from tertulia.conversations.channels.model import Channel
from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.topics.model import Topic
from tertulia.conversations.topics.rules import check_topic_policy, is_resolution
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.holding import Held
from tertulia.messaging.editing.model import EditRequest, Rights
from tertulia.messaging.editing.moving import queries as statements
from tertulia.messaging.editing.moving.queries import Change, Selection
from tertulia.messaging.editing.rules import GRACE, is_free_of_limits, is_over
from tertulia.messaging.reading.access import Reached
from tertulia.organization.realms.settings import RealmSettings, settings_of


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


async def plan_move(tx: Transaction, caller: Caller, held: Held, request: EditRequest) -> Plan:
    """What a move would be; a Refusal if the caller may not make it."""
    message, source, target, rights = held.message, held.channel, held.target, held.rights
    assert source is not None
    assert message.topic_id is not None
    assert message.topic is not None
    settings = settings_of(caller)
    goal = target or source
    topic = message.topic if request.topic is None else request.topic
    existing = await statements.find_topic(tx, goal.id, name_key_of(topic))
    if existing is not None and existing.has_messages and existing.id != message.topic_id:
        topic = existing.name  # a topic has one spelling
    history = None
    if not source.history_public_to_subscribers:
        history = await queries.history_of(tx, source.id, caller.user_id)
    mode = request.mode
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
    _check_rights(found, request, rights, settings, is_new=is_new)
    if not (found.is_resolution or is_free_of_limits(rights)):
        await _check_ages(tx, found, request, rights, settings)
    return found


async def _is_whole(tx: Transaction, selection: Selection) -> bool:
    if selection.mode == "change_all" and selection.history is None:
        return True
    return await statements.is_whole_topic(tx, selection)


def _check_rights(plan: Plan, request: EditRequest, rights: Rights, settings: RealmSettings, *, is_new: bool) -> None:
    if plan.is_resolution:
        if not rights.may_resolve:
            raise Refusal("You don't have permission to resolve topics in this channel.")
    elif request.topic is not None and not rights.may_move_within:
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


async def _check_ages(
    tx: Transaction, plan: Plan, request: EditRequest, rights: Rights, settings: RealmSettings
) -> None:
    if request.topic is not None:
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
