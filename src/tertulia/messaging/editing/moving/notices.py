"""What the notification bot says of moves, where messages were and where they are now."""

from collections.abc import Sequence

from tertulia.content.markup.writing import ChannelLink, Mention, Part, literal, worded
from tertulia.conversations.topics.rules import RESOLVED
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.model import EditRequest, Moving
from tertulia.messaging.editing.moving.planning import Plan
from tertulia.messaging.editing.moving.words import Words, words_of
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.settings import settings_of

UNDO_SECONDS = 60
"""Whoever takes a resolution back so soon did not mean it: what was said of it is deleted."""


async def find_undone(tx: Transaction, caller: Caller, plan: Plan) -> Moving | None:
    """The bot's word that the topic has been resolved, or not any more, if this move takes that back at once."""
    words = _words(caller)
    said = words.unresolved if plan.topic.startswith(RESOLVED) else words.resolved
    before, _, after = said.partition("{who}")
    return await queries.find_last_notice(tx, plan.old.id, literal(before), literal(after), UNDO_SECONDS)


async def tell_resolved(tx: Transaction, caller: Caller, plan: Plan) -> None:
    """Say that the topic is resolved, or not any more."""
    words = _words(caller)
    text = worded(words.resolved if plan.topic.startswith(RESOLVED) else words.unresolved, who=_person(caller))
    notice = Notice(text, channel_id=plan.target.id, topic=plan.topic, read_by=caller.user_id)
    await tell(tx, caller.realm_id, [notice])


async def tell_moved(
    tx: Transaction, caller: Caller, plan: Plan, moved: Sequence[Moving], request: EditRequest
) -> None:
    """Say in the old place and in the new one what went where. Another spelling is not worth a word."""
    if plan.is_respelling:
        return
    empty, words = settings_of(caller).empty_topic_display_name, _words(caller)
    count = len(moved)
    newest = moved[-1].id if count == 1 else None
    here = ChannelLink(plan.target.id, plan.target.name, plan.topic or empty, newest)
    there: Part = ChannelLink(plan.source.id, plan.source.name, plan.old.name or empty)
    if plan.is_elsewhere and plan.source.invite_only:
        there = words.private_channel  # not everybody at the target may know of it
    names: dict[str, Part] = {"number": str(count), "who": _person(caller)}
    notices = []
    if request.tell_old:
        said = words.topic_from_here if plan.is_whole else words.form(words.from_here, count)
        text = worded(said, place=here, **names)
        notices.append(Notice(text, channel_id=plan.source.id, topic=plan.old.name, read_by=caller.user_id))
    if request.tell_new:
        said = words.topic_to_here if plan.is_whole else words.form(words.to_here, count)
        text = worded(said, place=there, **names)
        notices.append(Notice(text, channel_id=plan.target.id, topic=plan.topic, read_by=caller.user_id))
    await tell(tx, caller.realm_id, notices)


def _words(caller: Caller) -> Words:
    return words_of(settings_of(caller).default_language)


def _person(caller: Caller) -> Mention:
    return Mention(caller.user_id, caller.full_name)
