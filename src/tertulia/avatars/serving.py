"""`/avatar/{user_id}`, outside the API: it leads to where the avatar is now."""

from typing import NamedTuple
from urllib.parse import parse_qs

from tertulia.avatars import queries
from tertulia.kernel.auth import Person
from tertulia.kernel.call import Call, Receive, Scope
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Authenticator
from tertulia.kernel.errors import Refusal
from tertulia.users.model import avatar_url_medium
from tertulia.users.visibility import hidden_from


class Found(NamedTuple):
    """Where somebody's avatar is, and what else the answer says: a session may have been prolonged."""

    location: str
    headers: list[tuple[bytes, bytes]]


class AvatarFinder:
    """Finds where the avatar of a user is now, for those who may know the user."""

    def __init__(self, database: Database, authenticator: Authenticator, external_host: str) -> None:
        self._database = database
        self._authenticator = authenticator
        self._external_host = external_host

    async def find(self, scope: Scope, receive: Receive, user_id: int, *, medium: bool) -> Found | None:
        """Where to go; None: the drawn avatar is the answer."""
        query = scope["query_string"].decode("latin-1")
        if "v" in parse_qs(query):
            return None  # the address of a drawn one
        call = Call(scope, receive, self._external_host)
        if not {b"authorization", b"cookie"} & call.raw_headers.keys():
            return None
        try:
            caller = await self._authenticator.authenticate(call, Person, True)
        except Refusal:
            return None
        if caller is None:
            return None
        async with self._database.reader() as reader:
            avatar = await queries.find_avatar(reader, caller.realm_id, user_id)
            if avatar is None or user_id in await hidden_from(reader, caller, [user_id]):
                return None
        url = avatar_url_medium(avatar.url) if medium else avatar.url
        return Found(f"{url}&{query}" if query else url, call.reply_headers)
