"""The profiles' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.people.profiles import queries
from tertulia.people.profiles.accounts import EXTERNAL_ACCOUNTS
from tertulia.people.profiles.model import TYPE_NAMES

_TYPES = {type.name: {"id": type.value, "name": name} for type, name in TYPE_NAMES.items()}


@provider("custom_profile_fields")
async def custom_profile_fields(
    reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """The organization's fields. What people say in them is in their user records."""
    return {
        "custom_profile_fields": [] if caller.is_nobody else await queries.fields_of(reader, caller.realm_id),
        "custom_profile_field_types": _TYPES,
    }


@provider("realm")
async def external_accounts(
    _reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """Places that a field can link to without being told how."""
    return {"realm_default_external_accounts": EXTERNAL_ACCOUNTS}
