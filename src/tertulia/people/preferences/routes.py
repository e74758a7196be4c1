"""Endpoints of the preferences feature."""

from typing import Annotated, get_type_hints

import msgspec

from tertulia.kernel.auth import Administrator, Human
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, patch
from tertulia.kernel.errors import Refusal
from tertulia.kernel.extra_parameters import extra_parameters, only_kept
from tertulia.kernel.limits import RateLimits, parse_rates
from tertulia.kernel.mail import check_mails_leave
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import get_realm
from tertulia.organization.realms.routes import realm_url
from tertulia.people.logins.email_change import ask_for_change
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.logins.reauthentication import credential_of
from tertulia.people.preferences import actions
from tertulia.people.preferences.actions import change_settings, check_changes
from tertulia.people.preferences.model import ONLY_KEPT, SettingsChange, UserSettings
from tertulia.people.users.archives import StoredArchives
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.reauthentication import Proof, Reauthentication

EMAIL_CHANGES = parse_rates("2/3600,5/86400")
Timezone = Annotated[str, msgspec.Meta(max_length=50)]


_SETTINGS = only_kept(get_type_hints(UserSettings, include_extras=True), ONLY_KEPT)


@patch("/settings")
@patch("/settings/display", listed=False)
@patch("/settings/notifications", listed=False)
@extra_parameters(_SETTINGS)
async def change_own_settings(
    caller: Human,
    call: Call,
    database: Database,
    login: PasswordLogin,
    settings: Settings,
    limits: RateLimits,
    again: Reauthentication,
    archives: StoredArchives,
    *,
    email: str | None = None,
    full_name: str | None = None,
    timezone: Timezone | None = None,
    old_password: str | None = None,
    new_password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
    **chosen: object,
) -> None:
    """Change your settings: only what you pass changes.

    A new password needs the old one, and ends all your browser sessions but this one. A new `email` needs `old_password`
    too, or a `code` or `passkey` of your second factor; it is yours once you confirm it by the mail that is sent there and by
    the one to your address of before.
    """
    wanted = {name: value for name, value in chosen.items() if value is not None}
    changes = check_changes(SettingsChange(wanted, full_name, timezone))
    asks_for_address = email is not None and email.strip() != caller.email
    if asks_for_address:
        check_mails_leave(settings)
        await again.check(caller, call, Proof(old_password, code, passkey))
    if new_password is not None:
        if old_password is None:
            raise Refusal("old_password is missing")
        this_one = session_digest(call, settings)
        credential = credential_of(call, settings)
        await login.change_password(caller, old_password, new_password, credential, keep_session=this_one)
    if asks_for_address and settings.rate_limits:
        await limits.spend(call, "email-change", str(caller.user_id), EMAIL_CHANGES)
    async with database.transaction() as tx:
        await change_settings(tx, caller, changes, archives)
        if email is not None and asks_for_address:
            realm = await get_realm(tx, caller.realm_id)
            url = f"{realm_url(realm, call, settings)}/accounts/email/confirm"
            await ask_for_change(tx, caller, realm, email, url)


@patch("/realm/user_settings_defaults")
@extra_parameters(_SETTINGS)
async def change_defaults(caller: Administrator, tx: Transaction, **chosen: object) -> None:
    """Change what the settings of new people are. Existing users keep theirs."""
    await actions.change_defaults(tx, caller, {name: value for name, value in chosen.items() if value is not None})
