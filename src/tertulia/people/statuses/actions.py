"""Changing a status."""

from typing import Any

import msgspec

from tertulia.events.log.record import record
from tertulia.kernel.auth import Caller, Role, check_administrator
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note, user
from tertulia.organization.custom_emoji.choosing import choose, complete
from tertulia.organization.custom_emoji.model import Emoji
from tertulia.people.preferences.actions import change_settings
from tertulia.people.preferences.model import SettingsChange
from tertulia.people.statuses import queries
from tertulia.people.statuses.model import NO_EMOJI, StatusChange
from tertulia.people.users.erased import check_not_erased
from tertulia.people.users.events import those_who_know
from tertulia.people.users.queries import lock_accounts
from tertulia.people.users.rules import no_such_user

MAX_STATUS_LENGTH = 60


class Sent(msgspec.Struct, frozen=True):
    """What a request says of a status."""

    status_text: str | None
    emoji_name: str | None
    emoji_code: str | None
    reaction_type: str | None
    away: bool | None = None


async def wish_of(reader: Reader, realm_id: int, sent: Sent) -> StatusChange:
    """What is to change; refuses what makes no status."""
    text = None if sent.status_text is None else sent.status_text.strip()
    if text is not None and len(text) > MAX_STATUS_LENGTH:
        raise Refusal(f"status_text is too long (limit: {MAX_STATUS_LENGTH} characters).")
    if sent.emoji_name is None and (sent.emoji_code is not None or sent.reaction_type is not None):
        raise Refusal("emoji_code and reaction_type need emoji_name beside them.")
    if text is None and sent.emoji_name is None and sent.away is None:
        raise Refusal("Nothing new was passed: a status has a status_text and an emoji_name.")
    return StatusChange(text, await _emoji(reader, realm_id, sent), sent.away)


async def set_own(tx: Transaction, caller: Caller, change: StatusChange) -> None:
    """Change one's own status."""
    if change.away is not None:
        await change_settings(tx, caller, SettingsChange(settings={"presence_enabled": not change.away}))
    await _set(tx, caller, caller.user_id, change)


async def set_of_other(tx: Transaction, caller: Caller, user_id: int, change: StatusChange) -> None:
    """Change the status of somebody else, as an administrator."""
    held = await lock_accounts(tx, caller.realm_id, [caller.user_id, user_id])
    actor = held.get(caller.user_id)
    check_administrator(msgspec.structs.replace(caller, role=actor.role if actor and actor.is_active else Role.GUEST))
    await check_not_erased(tx, user_id)
    await _set(tx, caller, user_id, change)


async def _set(tx: Transaction, caller: Caller, user_id: int, change: StatusChange) -> None:
    held = await lock_accounts(tx, caller.realm_id, [user_id])
    if user_id not in held or held[user_id].is_bot:
        raise no_such_user()
    changed: dict[str, Any] = {}
    if change.status_text is not None:
        changed["status_text"] = change.status_text
    if change.emoji is not None:
        changed |= msgspec.structs.asdict(change.emoji)
    if not changed:
        return
    await queries.change_status(tx, user_id, change)
    if user_id != caller.user_id:
        texts = {name: (None, value) for name, value in changed.items()}
        note(tx, caller.realm_id, Act.USER_STATUS_CHANGED, user(user_id), **texts)
    audience = await those_who_know(tx, caller.realm_id, user_id)
    tx.emit(caller.realm_id, record(audience, "user_status", {"user_id": user_id, **changed}))


async def _emoji(reader: Reader, realm_id: int, sent: Sent) -> Emoji | None:
    if sent.emoji_name is None:
        return None
    if not sent.emoji_name:
        return NO_EMOJI
    code, kind = await complete(reader, realm_id, sent.emoji_name, sent.emoji_code, sent.reaction_type)
    return await choose(reader, realm_id, sent.emoji_name, code, kind)
