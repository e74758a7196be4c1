"""Endpoints of the preferences feature."""

import inspect
from collections.abc import Callable
from typing import Annotated, TypeVar, get_type_hints

import msgspec

from tertulia.kernel.auth import Human
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Call, patch
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.logins.login import PasswordLogin
from tertulia.preferences.actions import change_settings, check_wishes
from tertulia.preferences.model import UserSettings, Wishes

Function = TypeVar("Function", bound=Callable[..., object])
Timezone = Annotated[str, msgspec.Meta(max_length=50)]


def taking(settings: type[msgspec.Struct]) -> Callable[[Function], Function]:
    """Give a function one optional parameter for each setting, in place of its last one, `**chosen`.

    The signature is what an endpoint is made of, and listing seventy settings once more would be no better.
    """

    def declare(function: Function) -> Function:
        hints = get_type_hints(settings, include_extras=True)
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        chosen = [inspect.Parameter(name, keyword, default=None, annotation=hints[name]) for name in hints]
        function.__signature__ = signature.replace(parameters=[*own, *chosen])  # type: ignore[attr-defined]
        function.__annotations__ |= hints
        return function

    return declare


@patch("/settings")
@patch("/settings/display", listed=False)
@patch("/settings/notifications", listed=False)
@taking(UserSettings)
async def change_own_settings(
    caller: Human,
    call: Call,
    database: Database,
    login: PasswordLogin,
    settings: Settings,
    *,
    full_name: str | None = None,
    timezone: Timezone | None = None,
    old_password: str | None = None,
    new_password: str | None = None,
    **chosen: object,
) -> None:
    """Change your settings: only what is passed becomes another.

    A new password needs the old one, and ends all your browser sessions but this one.
    """
    wanted = {name: value for name, value in chosen.items() if value is not None}
    wishes = check_wishes(Wishes(wanted, full_name, timezone))
    if new_password is not None:
        if old_password is None:
            raise Refusal("old_password is missing")
        this_one = session_digest(call, settings)
        await login.change_password(caller, old_password, new_password, keep_session=this_one)
    async with database.transaction() as tx:
        await change_settings(tx, caller, wishes)
