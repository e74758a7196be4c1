"""What the notification bot says of moves, where messages were and where they are now."""

from collections.abc import Sequence

from tertulia.content.markup.writing import ChannelLink, Mention, Part, Text
from tertulia.conversations.topics.rules import RESOLVED
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.model import EditRequest, Moving
from tertulia.messaging.editing.moving.planning import Plan
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.settings import settings_of

_RESOLVED = " has marked this topic as resolved."
_UNRESOLVED = " has marked this topic as unresolved."
UNDO_SECONDS = 60
"""Whoever takes a resolution back so soon did not mean it: what was said of it is deleted."""


async def find_undone(tx: Transaction, plan: Plan) -> Moving | None:
    """The bot's word that the topic has been resolved, or not any more, if this move takes that back at once."""
    said = _UNRESOLVED if plan.topic.startswith(RESOLVED) else _RESOLVED
    return await queries.find_last_notice(tx, plan.old.id, said, UNDO_SECONDS)


async def tell_resolved(tx: Transaction, caller: Caller, plan: Plan) -> None:
    """Say that the topic is resolved, or not any more."""
    said = _RESOLVED if plan.topic.startswith(RESOLVED) else _UNRESOLVED
    text = (_person(caller), said)
    notice = Notice(text, channel_id=plan.target.id, topic=plan.topic, read_by=caller.user_id)
    await tell(tx, caller.realm_id, [notice])


async def tell_moved(
    tx: Transaction, caller: Caller, plan: Plan, moved: Sequence[Moving], request: EditRequest
) -> None:
    """Say in the old place and in the new one what went where. Another spelling is not worth a word."""
    if plan.is_respelling:
        return
    empty = settings_of(caller).empty_topic_display_name
    count = len(moved)
    newest = moved[-1].id if count == 1 else None
    here = ChannelLink(plan.target.id, plan.target.name, plan.topic or empty, newest)
    there: Part = ChannelLink(plan.source.id, plan.source.name, plan.old.name or empty)
    if plan.is_elsewhere and plan.source.invite_only:
        there = "a private channel"  # not everybody at the target may know of it
    notices = []
    if request.tell_old:
        text: Text = (*_what(plan, count), " moved from here to ", here, " by ", _person(caller), ".")
        notices.append(Notice(text, channel_id=plan.source.id, topic=plan.old.name, read_by=caller.user_id))
    if request.tell_new:
        text = (*_what(plan, count), " moved here from ", there, " by ", _person(caller), ".")
        notices.append(Notice(text, channel_id=plan.target.id, topic=plan.topic, read_by=caller.user_id))
    await tell(tx, caller.realm_id, notices)


def _what(plan: Plan, count: int) -> Text:
    if plan.is_whole:
        return ("This topic was",)
    return ("A message was",) if count == 1 else (str(count), " messages were")


def _person(caller: Caller) -> Mention:
    return Mention(caller.user_id, caller.full_name)
