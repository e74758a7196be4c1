"""Readers without an account: in organizations with public access they read what is said in web-public channels."""

from collections.abc import Sequence

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.narrows.rules import is_open_to_anybody, without_home
from tertulia.messaging.narrows.terms import Term
from tertulia.people.users.spectators import spectator_at


async def spectator_of(call: Call, reader: Reader, settings: Settings, terms: Sequence[Term]) -> Caller:
    """A reader without an account, if the server, the organization and what they ask for allow one; 401 otherwise."""
    return await spectator_at(call, reader, settings, may=is_open_to_anybody(without_home(terms)))
