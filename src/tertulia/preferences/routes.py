"""Endpoints of the preferences feature."""

from typing import Annotated, get_type_hints

import msgspec

from tertulia.kernel.auth import Administrator, Human
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, patch
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import RateLimits, parse_rates
from tertulia.kernel.settings import Settings
from tertulia.kernel.taking import taking
from tertulia.logins.email_change import ask_for_change
from tertulia.logins.login import PasswordLogin
from tertulia.preferences import actions
from tertulia.preferences.actions import change_settings, check_wishes
from tertulia.preferences.model import UserSettings, Wishes
from tertulia.realms.queries import get_realm
from tertulia.realms.routes import realm_url

EMAIL_CHANGES = parse_rates("2/3600,5/86400")
Timezone = Annotated[str, msgspec.Meta(max_length=50)]


_SETTINGS = get_type_hints(UserSettings, include_extras=True)


@patch("/settings")
@patch("/settings/display", listed=False)
@patch("/settings/notifications", listed=False)
@taking(_SETTINGS)
async def change_own_settings(
    caller: Human,
    call: Call,
    database: Database,
    login: PasswordLogin,
    settings: Settings,
    limits: RateLimits,
    *,
    email: str | None = None,
    full_name: str | None = None,
    timezone: Timezone | None = None,
    old_password: str | None = None,
    new_password: str | None = None,
    **chosen: object,
) -> None:
    """Change your settings: only what is passed becomes another.

    A new password needs the old one, and ends all your browser sessions but this one. A new `email` is yours once you
    confirm it by the mail that is sent there.
    """
    wanted = {name: value for name, value in chosen.items() if value is not None}
    wishes = check_wishes(Wishes(wanted, full_name, timezone))
    if new_password is not None:
        if old_password is None:
            raise Refusal("old_password is missing")
        this_one = session_digest(call, settings)
        await login.change_password(caller, old_password, new_password, keep_session=this_one)
    if email is not None and email.strip() != caller.email and settings.rate_limits:
        await limits.spend(call, "email-change", str(caller.user_id), EMAIL_CHANGES)
    async with database.transaction() as tx:
        await change_settings(tx, caller, wishes)
        if email is not None and email.strip() != caller.email:
            realm = await get_realm(tx, caller.realm_id)
            url = f"{realm_url(realm, call, settings)}/accounts/email/confirm"
            await ask_for_change(tx, caller, realm, email, url)


@patch("/realm/user_settings_defaults")
@taking(_SETTINGS)
async def change_defaults(caller: Administrator, tx: Transaction, **chosen: object) -> None:
    """Change what the settings of new people are. Those who are there keep theirs."""
    await actions.change_defaults(tx, caller, {name: value for name, value in chosen.items() if value is not None})
