"""What the notification bot says of moves, where messages were and where they are now."""

from tertulia.edits import queries
from tertulia.edits.model import Moving, Wish
from tertulia.edits.moves import Moved, Plan
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.notices import Notice, tell
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import RESOLVED

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
    content = _person(caller) + said
    notice = Notice(content=content, channel_id=plan.target.id, topic=plan.topic, read_by=caller.user_id)
    await tell(tx, caller.realm_id, [notice])


async def tell_moved(tx: Transaction, caller: Caller, plan: Plan, moved: Moved, wish: Wish) -> None:
    """Say in the old place and in the new one what went where. Another spelling is not worth a word."""
    if plan.is_respelling:
        return
    empty = decode_settings(caller.realm_settings).empty_topic_display_name
    count = len(moved.after)
    newest = moved.after[-1].id if count == 1 else None
    here = _place(plan.target.name, plan.topic or empty, newest)
    there = _place(plan.source.name, plan.old.name or empty)
    if plan.is_elsewhere and plan.source.invite_only:
        there = "a private channel"  # not everybody at the target may know of it
    notices = []
    if wish.tell_old:
        content = f"{_what(plan, count)} moved from here to {here} by {_person(caller)}."
        notices.append(Notice(content=content, channel_id=plan.source.id, topic=plan.old.name, read_by=caller.user_id))
    if wish.tell_new:
        content = f"{_what(plan, count)} moved here from {there} by {_person(caller)}."
        notices.append(Notice(content=content, channel_id=plan.target.id, topic=plan.topic, read_by=caller.user_id))
    await tell(tx, caller.realm_id, notices)


def _what(plan: Plan, count: int) -> str:
    if plan.is_whole:
        return "This topic was"
    return "A message was" if count == 1 else f"{count} messages were"


def _place(channel: str, topic: str, message_id: int | None = None) -> str:
    return f"#**{channel}>{topic}" + ("" if message_id is None else f"@{message_id}") + "**"


def _person(caller: Caller) -> str:
    return f"@_**{caller.full_name}|{caller.user_id}**"
