"""Changing an organization's settings: all or nothing, each change told once, to everybody.

The caller's role is that of the moment of the write. Locks: the caller's account, groups, and the realm last.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller, check_administrator, check_owner
from tertulia.kernel.bounds import LONGEST_RETENTION
from tertulia.kernel.compat import OLD_REALM_SETTINGS, is_old_property, old_realm_settings
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character
from tertulia.kernel.urls import is_call_server
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.groups.actions import change_permissions, change_waiting_period
from tertulia.organization.groups.settings import REALM_SETTINGS
from tertulia.organization.groups.values import ChangedValue
from tertulia.organization.realms import queries
from tertulia.organization.realms.actions import MAX_ENDS
from tertulia.organization.realms.languages import LANGUAGES
from tertulia.organization.realms.limits import MAX_REALM_DESCRIPTION_LENGTH, MAX_REALM_NAME_LENGTH, MAX_TOPIC_LENGTH
from tertulia.organization.realms.settings import (
    AUDIT_RETENTION,
    CALLS,
    CHANNELS,
    KEEP_FOR_EVER,
    NO_CHANNEL,
    OWNERS_DECIDE,
    PRIVATE_CHANNELS,
    RETENTION,
    SHORTEST_AUDIT_RETENTION,
    TIME_LIMITS,
    WAITING_PERIOD,
    RealmSettings,
)

UNLIMITED = "unlimited"
DEFAULT_SERVER = "default"
MAX_LIMIT = 2**31 - 1
ABOUT = {"name": MAX_REALM_NAME_LENGTH, "description": MAX_REALM_DESCRIPTION_LENGTH}
"""What an organization says of itself, and how long it may be."""
EDITING = ("allow_message_editing", "message_content_edit_limit_seconds")
"""Told together: what the one means depends on the other."""


class ChannelCheck(msgspec.Struct, frozen=True):
    """Refuses channels the caller does not reach. Channels are a feature above this one: it provides this as a service."""

    check: Callable[[Transaction, Caller, int], Awaitable[None]]
    check_private: Callable[[Transaction, Caller, int], Awaitable[None]]
    """Refuses public channels as well."""


async def change_realm(tx: Transaction, caller: Caller, channels: ChannelCheck, wanted: dict[str, Any]) -> None:
    """Change what is wanted: permissions as {new, old}, the name and description, and plain settings."""
    await _check_right(tx, caller, wanted)
    permissions = {name: value for name, value in wanted.items() if name in REALM_SETTINGS}
    plain = {name: _clean(name, value) for name, value in wanted.items() if name not in REALM_SETTINGS}
    for name in CHANNELS:
        if plain.get(name, NO_CHANNEL) != NO_CHANNEL:
            check = channels.check_private if name in PRIVATE_CHANNELS else channels.check
            await check(tx, caller, plain[name])
    if permissions:
        await _change_permissions(tx, caller.realm_id, permissions)
    days = plain.pop(WAITING_PERIOD, None)
    if days is not None:
        await _change_waiting_period(tx, caller.realm_id, days)
    if plain:
        await change_settings(tx, caller.realm_id, plain)


async def change_settings(tx: Transaction, realm_id: int, wanted: dict[str, Any]) -> None:
    """Write clean values of the name, the description and plain settings, and tell of those that became another."""
    held = await queries.lock_realm(tx, realm_id)
    old = held.settings
    about = {"name": held.name, "description": held.description}
    changed = {name: value for name, value in wanted.items() if value != about.get(name, getattr(old, name, None))}
    if not changed:
        return
    settings = {name: value for name, value in changed.items() if name not in about}
    about |= {name: value for name, value in changed.items() if name in about}
    new = msgspec.structs.replace(old, **settings)
    await queries.update_realm(tx, realm_id, about["name"], about["description"], list(settings), new)
    _tell(tx, realm_id, changed, old, new)
    was = {"name": held.name, "description": held.description}
    changes = {name: (was.get(name, getattr(old, name, None)), value) for name, value in changed.items()}
    note(tx, realm_id, Act.REALM_CHANGED, realm(realm_id), **changes)


async def forget_channel(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """No setting names a channel that is out of use."""
    settings = (await queries.lock_realm(tx, realm_id)).settings
    gone = {name: NO_CHANNEL for name in CHANNELS if getattr(settings, name) == channel_id}
    if gone:
        await change_settings(tx, realm_id, gone)


async def _check_right(tx: Transaction, caller: Caller, wanted: dict[str, Any]) -> None:
    now = await check_is_administrator(tx, caller)
    if not OWNERS_DECIDE.isdisjoint(wanted):
        check_owner(now)


async def check_is_administrator(tx: Transaction, caller: Caller, *, lightly: bool = False) -> Caller:
    """Refuse whoever is not an administrator at this moment; returns the caller as they are until the commit.

    `lightly` for who holds something else already.
    """
    role = await queries.hold_role(tx, caller.user_id, lightly=lightly)
    if role is None:
        raise Refusal("Insufficient permission")
    now = msgspec.structs.replace(caller, role=role)
    check_administrator(now)
    return now


def check_stored(settings: RealmSettings) -> None:
    """Refuse what no PATCH /realm would have stored: an archive may say anything."""
    for name, value in msgspec.structs.asdict(settings).items():
        if name in TIME_LIMITS or name in (RETENTION, AUDIT_RETENTION):
            no_limit = None if name in TIME_LIMITS else KEEP_FOR_EVER
            _clean(name, UNLIMITED if value == no_limit else value)
        elif name == CALLS:
            _clean(name, DEFAULT_SERVER if value is None else value)
        else:
            _clean(name, value)
    if not 0 < len(settings.empty_topic_display_name) <= MAX_TOPIC_LENGTH:
        raise Refusal("Invalid empty_topic_display_name")


def _clean(name: str, value: Any) -> Any:
    """A value as it is stored."""
    if name in TIME_LIMITS:
        return _limit(name, value, None, 1, MAX_LIMIT)
    if name == RETENTION:
        return _limit(name, value, KEEP_FOR_EVER, 1, LONGEST_RETENTION)
    if name == AUDIT_RETENTION:
        return _limit(name, value, KEEP_FOR_EVER, SHORTEST_AUDIT_RETENTION, LONGEST_RETENTION)
    if name in ABOUT:
        return clean_about(name, value.strip())
    if name == CALLS:
        return _call_server(value.strip())
    if name == "default_language" and value not in LANGUAGES:
        raise Refusal("Invalid default_language")
    return value


def clean_about(name: str, text: str) -> str:
    """A name or a description as an organization may have it."""
    if name == "name" and not text:
        raise Refusal("An organization's name can't be empty.")
    if len(text) > ABOUT[name]:
        raise Refusal(f"{name} is too long (limit: {ABOUT[name]} characters)")
    if name == "name" and (position := bad_character(text)) is not None:
        raise Refusal(f"Invalid character in the organization's name, at position {position}.")
    return text


def _call_server(url: str) -> str | None:
    """An address, or the word for the server of the operator's."""
    if url == DEFAULT_SERVER:
        return None
    if not is_call_server(url):
        raise Refusal("jitsi_server_url is not the address of a server, such as https://meet.example.com")
    return url.rstrip("/")


def _limit(name: str, value: int | str, unlimited: int | None, lowest: int, highest: int) -> int | None:
    """A positive number, or the word for no limit."""
    if value == UNLIMITED:
        return unlimited
    if isinstance(value, int) and lowest <= value <= highest:
        return value
    raise Refusal(f"Bad value for '{name}': {value}", code="REQUEST_VARIABLE_INVALID", var_name=name, bad_value=value)


async def _change_permissions(tx: Transaction, realm_id: int, changes: dict[str, ChangedValue]) -> None:
    changed = await change_permissions(tx, realm_id, changes)
    if "can_access_all_users_group" in changed:
        # Guests see other people now: their queues end, and their clients ask for the state again.
        await queries.lock_realm(tx, realm_id)  # nobody becomes a guest here meanwhile
        guests = await queries.active_guests(tx, realm_id)
        for start in range(0, len(guests), MAX_ENDS):
            ended = tuple(guests[start : start + MAX_ENDS])
            tx.emit(realm_id, record(Audience(), "realm", {}, ends=ended))


async def _change_waiting_period(tx: Transaction, realm_id: int, days: int) -> None:
    held = (await queries.lock_realm(tx, realm_id)).settings
    if held.waiting_period_threshold == days:
        return
    await change_waiting_period(tx, realm_id, days)
    _emit(tx, realm_id, op="update", property=WAITING_PERIOD, value=days)
    change = {WAITING_PERIOD: (held.waiting_period_threshold, days)}
    note(tx, realm_id, Act.REALM_CHANGED, realm(realm_id), **change)


def _tell(tx: Transaction, realm_id: int, changed: dict[str, Any], before: RealmSettings, now: RealmSettings) -> None:
    editing = {name: value for name, value in changed.items() if name in EDITING}
    if editing:
        _emit(tx, realm_id, op="update_dict", property="default", data=editing)
    for name, value in changed.items():
        if name not in EDITING:
            _emit(tx, realm_id, op="update", property=name, value=value)
        if (old := OLD_REALM_SETTINGS.get(name)) is not None and mirrors(now)[old] != mirrors(before)[old]:
            _emit(tx, realm_id, op="update", property=old, value=mirrors(now)[old])


def mirrors(settings: RealmSettings) -> dict[str, bool]:
    """What older clients know some settings as."""
    return old_realm_settings(settings.topics_policy, settings.message_edit_history_visibility_policy)


def _emit(tx: Transaction, realm_id: int, **event: Any) -> None:
    to = Audience(realm=True, old=is_old_property(event.get("property", "")))
    tx.emit(realm_id, record(to, "realm", event))
