"""`/avatar/{user_id}`, outside the API: it leads to where the avatar is now."""

import re
from typing import NamedTuple

from tertulia.kernel.admission import Admission
from tertulia.kernel.audit import request_under_way
from tertulia.kernel.auth import Person
from tertulia.kernel.call import Call, Receive, Scope
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import TOO_OFTEN
from tertulia.kernel.settings import Settings
from tertulia.people.avatars import queries
from tertulia.people.users.model import avatar_url_medium
from tertulia.people.users.visibility.actions import hidden_from

_VERSION = re.compile(rb"(?:^|&)v=[^&]")


class AvatarLocation(NamedTuple):
    """Where somebody's avatar is, and what else the answer says: a session may have been prolonged."""

    location: str
    headers: list[tuple[bytes, bytes]]


class AvatarFinder:
    """Finds where the avatar of a user is now, for those who may know the user."""

    def __init__(self, database: Database, admission: Admission, settings: Settings) -> None:
        self._database = database
        self._admission = admission
        self._settings = settings

    async def find(self, scope: Scope, receive: Receive, user_id: int, *, medium: bool) -> AvatarLocation | None:
        """Where to go; None: the drawn avatar is the answer. Refuses who tries wrong credentials too often."""
        if _VERSION.search(scope["query_string"]):
            return None  # the address of a drawn one
        call = Call(scope, receive, self._settings.external_host)
        if b"authorization" not in call.raw_headers and session_digest(call, self._settings) is None:
            return None  # no credentials were tried
        try:
            # A page shows hundreds of them.
            caller = await self._admission.admit(call, Person, optional=True, unlimited=True)
        except Refusal as refusal:
            if refusal.status == TOO_OFTEN:
                raise
            return None
        if caller is None:
            return None
        place = await self._admission.enter(call, files=True)
        try:
            with request_under_way(call, caller):
                avatar = await self._find(caller, user_id)
        finally:
            self._admission.leave(place, files=True)
        if avatar is None:
            return None
        url = avatar_url_medium(avatar.url) if medium else avatar.url
        query = scope["query_string"].decode("latin-1")
        return AvatarLocation(f"{url}&{query}" if query else url, call.reply_headers)

    async def _find(self, caller: Person, user_id: int) -> queries.Avatar | None:
        async with self._database.reader() as reader:
            avatar = await queries.find_avatar(reader, caller.realm_id, user_id)
            hidden = avatar is not None and user_id in await hidden_from(reader, caller, [user_id])
            return None if hidden else avatar
