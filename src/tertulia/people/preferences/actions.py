"""Changing one's settings."""

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note, realm, user
from tertulia.organization.realms.changing.actions import check_is_administrator
from tertulia.organization.realms.languages import LANGUAGES
from tertulia.people.preferences import queries
from tertulia.people.preferences.choices import check_choices, check_timezone
from tertulia.people.preferences.model import Chosen, SettingsChange
from tertulia.people.users import events as users_events
from tertulia.people.users.actions import check_name_free, tell_visibility
from tertulia.people.users.archives import StoredArchives
from tertulia.people.users.queries import administrators
from tertulia.people.users.rules import clean_full_name

CONSENT = "allow_private_data_export"


def check_changes(changes: SettingsChange) -> SettingsChange:
    """Refuse what can be told to be wrong before anything is looked up."""
    check_choices(changes.settings)
    if changes.timezone is not None:
        check_timezone(changes.timezone)
    name = clean_full_name(changes.full_name) if changes.full_name is not None and changes.full_name.strip() else None
    return msgspec.structs.replace(changes, full_name=name)


async def change_settings(
    tx: Transaction, caller: Caller, changes: SettingsChange, archives: StoredArchives | None = None
) -> None:
    """Change what the caller passed, and tell of what became another. `archives`: needed where consent may be among it."""
    old = await queries.lock_chosen(tx, caller.user_id)
    if not old.is_active:
        raise Refusal("Insufficient permission")
    changed = {name: value for name, value in changes.settings.items() if value != getattr(old.settings, name)}
    new = msgspec.structs.replace(
        old,
        settings=msgspec.structs.replace(old.settings, **changed),
        timezone=old.timezone if changes.timezone is None else changes.timezone,
        full_name=await _new_name(tx, caller, old, changes.full_name),
    )
    if new == old:
        return
    await queries.update_settings(tx, caller.user_id, new.settings, list(changed), new.timezone, new.full_name)
    if new.full_name != old.full_name:
        names = (old.full_name, new.full_name)
        note(tx, caller.realm_id, Act.USER_CHANGED, user(caller.user_id), full_name=names)
    own = (caller.realm_id, caller.user_id)
    _tell_oneself(tx, *own, changed if new.timezone == old.timezone else changed | {"timezone": new.timezone})
    await _tell_others(tx, msgspec.structs.replace(caller, email=old.email), old, new)
    if CONSENT in changed:
        await _tell_consent(tx, caller, consented=new.settings.allow_private_data_export)
        if new.settings.allow_private_data_export:
            await queries.note_consent(tx, caller.user_id)
        else:
            assert archives is not None
            await archives.leave_out(tx, caller.realm_id, caller.user_id)


async def turn_off(tx: Transaction, realm_id: int, user_id: int, setting: str) -> None:
    """Turn a setting of somebody off on their behalf, as the link in a mail does, and tell their clients."""
    old = await queries.lock_chosen(tx, user_id)
    if not getattr(old.settings, setting):
        return
    changed: dict[str, object] = {setting: False}
    new = msgspec.structs.replace(old.settings, **changed)
    await queries.update_settings(tx, user_id, new, [setting], old.timezone, old.full_name)
    _tell_oneself(tx, realm_id, user_id, changed)


async def _new_name(tx: Transaction, caller: Caller, old: Chosen, wanted: str | None) -> str:
    """Where names are fixed, a request for another one is passed over, as existing clients expect it."""
    if wanted is None or wanted == old.full_name or (old.name_is_fixed and old.role > Role.ADMINISTRATOR):
        return old.full_name
    await check_name_free(tx, caller, wanted, caller.user_id)
    return wanted


def _tell_oneself(tx: Transaction, realm_id: int, user_id: int, changed: dict[str, object]) -> None:
    own = Audience(users=(user_id,))
    for name, value in changed.items():
        event = {"op": "update", "property": name, "value": value}
        if name == "default_language":
            event["language_name"] = LANGUAGES[str(value)]
        tx.emit(realm_id, record(own, "user_settings", event))


async def _tell_others(tx: Transaction, caller: Caller, old: Chosen, new: Chosen) -> None:
    """What the user record and the status show of it."""
    visibility, is_present = new.settings.email_address_visibility, new.settings.presence_enabled
    if visibility != old.settings.email_address_visibility:
        await tell_visibility(tx, caller, old.settings.email_address_visibility, visibility)
    if (old.full_name, old.timezone, old.settings.presence_enabled) == (new.full_name, new.timezone, is_present):
        return
    to = await users_events.those_who_know(tx, caller.realm_id, caller.user_id)
    if is_present != old.settings.presence_enabled:
        # `away` is the older word for it, and part of the status (statuses/).
        tx.emit(caller.realm_id, record(to, "user_status", {"user_id": caller.user_id, "away": not is_present}))
    if new.full_name != old.full_name:
        tx.emit(caller.realm_id, users_events.updated(to, caller.user_id, full_name=new.full_name))
    if new.timezone != old.timezone:
        shown = msgspec.structs.replace(caller, email_visibility=visibility).api_email
        tx.emit(caller.realm_id, users_events.updated(to, caller.user_id, timezone=new.timezone, email=shown))


async def _tell_consent(tx: Transaction, caller: Caller, *, consented: bool) -> None:
    """Whether their private data may be in an export concerns those who make exports."""
    to = Audience(users=tuple(sorted(await administrators(tx, caller.realm_id))))
    told = {"user_id": caller.user_id, "consented": consented}
    tx.emit(caller.realm_id, record(to, "realm_export_consent", told))


async def change_defaults(tx: Transaction, caller: Caller, wanted: dict[str, object]) -> None:
    """Change what the settings of people are who come from now on, and tell everybody."""
    check_choices(wanted)
    if wanted.get(CONSENT):
        raise Refusal("Everybody agrees for themselves that owners may export their private data.")
    await check_is_administrator(tx, caller)
    old = await queries.lock_defaults(tx, caller.realm_id)
    changed = {name: value for name, value in wanted.items() if value != getattr(old, name)}
    if not changed:
        return
    await queries.update_defaults(tx, caller.realm_id, msgspec.structs.replace(old, **changed))
    changes = {name: (getattr(old, name), value) for name, value in changed.items()}
    note(tx, caller.realm_id, Act.REALM_DEFAULTS_CHANGED, realm(caller.realm_id), **changes)
    for name, value in changed.items():
        event = {"op": "update", "property": name, "value": value}
        tx.emit(caller.realm_id, record(Audience(realm=True), "realm_user_settings_defaults", event))
