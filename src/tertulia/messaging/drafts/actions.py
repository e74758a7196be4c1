"""Keeping, changing and dropping drafts."""

from collections.abc import Collection, Iterator, Sequence

from tertulia.conversations.channels.access import get_channels
from tertulia.conversations.topics.rules import clean_topic
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_bytes, check_room, hold_count
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.drafts import queries
from tertulia.messaging.drafts.bounds import DRAFT_BYTES, DRAFTS
from tertulia.messaging.drafts.model import Draft, KeptDraft, SentDraft
from tertulia.messaging.sending.queries import find_recipients
from tertulia.messaging.sending.rules import clean_content
from tertulia.organization.realms.settings import settings_of
from tertulia.people.preferences.queries import get_settings
from tertulia.people.users.model import view_of
from tertulia.people.users.visibility.actions import hidden_from

MAX_TOLD_CHARACTERS = 100_000
"""How much one event carries: the log takes no event of any size."""


async def create_drafts(tx: Transaction, caller: Caller, sent: Sequence[SentDraft]) -> list[int]:
    """Keep new drafts, all or none; their ids."""
    await check_wanted(tx, caller)
    kept = await _checked(tx, caller, sent)
    await check_room(tx, DRAFTS, caller.user_id, len(kept))
    drafts = await queries.insert_drafts(tx, caller.user_id, kept) if kept else []
    await check_bytes(tx, DRAFT_BYTES, caller.user_id)
    for portion in _portions(drafts):
        _tell(tx, caller, {"op": "add", "drafts": portion})
    return [draft.id for draft in drafts]


async def edit_draft(tx: Transaction, caller: Caller, draft_id: int, sent: SentDraft) -> None:
    """Put another text and address into the place of a draft."""
    await check_wanted(tx, caller)
    [kept] = await _checked(tx, caller, [sent])
    await hold_count(tx, DRAFTS, caller.user_id)
    draft = await queries.replace_draft(tx, caller.user_id, draft_id, kept)
    if draft is None:
        raise no_such_draft()
    await check_bytes(tx, DRAFT_BYTES, caller.user_id)
    _tell(tx, caller, {"op": "update", "draft": draft})


async def delete_draft(tx: Transaction, caller: Caller, draft_id: int) -> None:
    """Drop a draft."""
    await check_wanted(tx, caller)
    if not await queries.delete_draft(tx, caller.user_id, draft_id):
        raise no_such_draft()
    _tell(tx, caller, {"op": "remove", "draft_id": draft_id})


async def check_wanted(reader: Reader, caller: Caller) -> None:
    """Refuse whoever does not want drafts on the server."""
    settings, _ = await get_settings(reader, caller.user_id)
    if not settings.enable_drafts_synchronization:
        raise Refusal("You have turned off the synchronization of drafts in your settings.")


def no_such_draft() -> Refusal:
    """Somebody else's draft looks like none."""
    return Refusal("There is no such draft.")


async def _checked(tx: Transaction, caller: Caller, sent: Sequence[SentDraft]) -> list[KeptDraft]:
    """Drafts as they are kept, in the order given. As many statements for many as for one."""
    contents = [clean_content(draft.content) for draft in sent]
    named = [draft.to for draft in sent if draft.type == "stream"]
    if any(len(to) != 1 for to in named):
        raise Refusal("A channel draft names exactly one channel ID.")
    channels = await get_channels(tx, caller, {channel_id for [channel_id] in named})
    known = await _known(tx, caller, {user_id for draft in sent if draft.type == "private" for user_id in draft.to})
    kept = []
    for draft, content in zip(sent, contents, strict=True):
        if draft.type == "stream":
            topic = clean_topic(draft.topic, settings_of(caller))
            kept.append(KeptDraft(channels[draft.to[0]].id, None, topic, content, draft.timestamp))
        else:
            people = _people(caller, draft.to, known) if draft.type == "private" else None
            kept.append(KeptDraft(None, people, "", content, draft.timestamp))
    return kept


async def _known(tx: Transaction, caller: Caller, user_ids: Collection[int]) -> frozenset[int]:
    """Those of these people whom the caller knows."""
    if not user_ids:
        return frozenset()
    found = frozenset(person.id for person in await find_recipients(tx, view_of(caller), list(user_ids), []))
    return found - await hidden_from(tx, caller, found)


def _people(caller: Caller, user_ids: Sequence[int], known: Collection[int]) -> tuple[int, ...] | None:
    """Whom a draft is for; oneself only if there is nobody else. Nobody: the draft has no address yet."""
    for user_id in user_ids:
        if user_id not in known:
            raise Refusal(f"Invalid user ID {user_id}.")
    chosen = set(user_ids)
    return tuple(sorted(chosen - {caller.user_id} or chosen)) or None


def _portions(drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
    portion: list[Draft] = []
    size = 0
    for draft in drafts:
        if portion and size + len(draft.content) > MAX_TOLD_CHARACTERS:
            yield portion
            portion, size = [], 0
        portion.append(draft)
        size += len(draft.content)
    if portion:
        yield portion


def _tell(tx: Transaction, caller: Caller, event: dict[str, object]) -> None:
    tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "drafts", event))
