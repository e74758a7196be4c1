"""Endpoints about exports of an organization, as far as clients read them."""

from typing import Any

import msgspec

from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import get


class Exports(msgspec.Struct):
    """The answer of GET /export/realm."""

    exports: list[Any]


class Consent(msgspec.Struct):
    """Whether somebody agrees to have their private data in an export."""

    user_id: int
    consented: bool
    email_address_visibility: int


class Consents(msgspec.Struct):
    """The answer of GET /export/realm/consents."""

    export_consents: list[Consent]


@get("/export/realm")
async def get_exports(_caller: Administrator) -> Exports:
    """The exports that were made of the organization: none, as they are made by the operator (`tertulia export`)."""
    return Exports([])


@get("/export/realm/consents")
async def get_consents(caller: Administrator, reader: Reader) -> Consents:
    """Which of the active people have set `allow_private_data_export`."""
    sql = """
    select id as user_id, coalesce((settings->>'allow_private_data_export')::bool, false) as consented,
        email_visibility(account) as email_address_visibility
    from account where realm_id = $1 and is_active and bot_type is null order by id
    """
    return Consents([Consent(**row) for row in await reader.fetch(sql, caller.realm_id)])
