"""Pictures by their addresses, outside the API: avatars, custom emoji, an organization's icon and logos, pictures from
elsewhere that messages show, what we draw ourselves.

A stored picture is shown to whoever knows its name, which cannot be guessed, as long as it is in use: whether it is, the database
says for each request. A picture that somebody took away is gone at once, though the object may be there for a while.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import structlog

from tertulia.content.markup import embeds, previews, remote, typography
from tertulia.content.pictures.drawing import ICON, LOADER, PAGE, extra_emoji
from tertulia.content.pictures.keeping import content_type
from tertulia.content.storage import NotStored, Store, StoreUnavailable
from tertulia.files.remote_pictures.queries import find as find_remote
from tertulia.files.uploads.thumbnails.sizes import thumbnail_key
from tertulia.kernel.admission import Admission
from tertulia.kernel.call import Call, Receive, Scope
from tertulia.kernel.db import LOST, Database, Reader
from tertulia.kernel.errors import Refusal, error_body, not_found, server_not_ready
from tertulia.kernel.fetching import State
from tertulia.organization.custom_emoji.actions import key_of as emoji_key
from tertulia.organization.custom_emoji.queries import has_picture as is_emoji
from tertulia.organization.realms.pictures.actions import is_in_use as is_of_realm
from tertulia.organization.realms.pictures.actions import key_of as realm_key
from tertulia.people.avatars.actions import key_of as avatar_key
from tertulia.people.avatars.queries import is_in_use as is_avatar
from tertulia.people.avatars.serving import AvatarFinder
from tertulia.people.users.avatars import MEDIUM, SMALL, identicon

log = structlog.get_logger()

_DRAWN = re.compile(r"/avatar/([0-9]{1,18})(/medium)?")
_AVATAR = re.compile(r"/user_avatars/([0-9]{1,18})/([0-9a-f]{40})(-medium)?\.png")
_EMOJI = re.compile(r"/user_avatars/([0-9]{1,18})/emoji/images/([0-9a-f]{16}(?:\.png|\.webp|-still\.png))")
_REMOTE = re.compile(rf"{remote.PREFIX}/([0-9]{{1,18}})/([0-9a-f]{{64}})(?:/([0-9a-z.-]{{1,40}}))?")
_OF_REALM = re.compile(r"/user_avatars/([0-9]{1,18})/realm/(icon|logo|night_logo)/([0-9a-f]{40})\.png")

_STORED = ("/user_avatars/", f"{remote.PREFIX}/")

_DAY = "public, max-age=86400"
FOR_EVER = "public, max-age=31536000, immutable"
_THEIRS = "private, max-age=604800, immutable"
"""Of people: no cache that others share keeps what was taken away."""
_SOON = "private, no-cache"
MOMENT_SECONDS = 0.5


class Shown(NamedTuple):
    """An answer."""

    status: int
    content_type: str
    body: bytes
    cache: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """More of them."""


class Gallery:
    """Answers for the addresses that it knows."""

    def __init__(self, database: Database, store: Store, avatars: AvatarFinder, admission: Admission) -> None:
        self._database = database
        self._admission = admission
        self._store = store
        self._avatars = avatars

    async def find(self, scope: Scope, receive: Receive) -> Shown | None:
        """The picture at an address; None if no picture is ever there."""
        try:
            return _our_own(scope["path"]) or await self._find(scope, receive)
        except Refusal as refusal:
            return refused(refusal)
        except (*LOST, StoreUnavailable) as error:
            log.warning("a picture could not be shown", path=scope["path"], error=repr(error))
            return refused(server_not_ready("The server cannot reach its files right now. Please try again."))

    async def _find(self, scope: Scope, receive: Receive) -> Shown | None:
        path = scope["path"]
        if found := _DRAWN.fullmatch(path):
            return await self._drawn(scope, receive, int(found[1]), medium=bool(found[2]))
        if not path.startswith(_STORED):
            return None
        # Nobody is asked who they are, so their network stands for them: a few who ask for much do not hold up everybody.
        async with self._admission.let_network_in(Call(scope, receive)):
            return await self._find_stored(path)

    async def _find_stored(self, path: str) -> Shown | None:
        if found := _AVATAR.fullmatch(path):
            realm_id, name = int(found[1]), found[2]
            is_used = await self._ask(lambda reader: is_avatar(reader, realm_id, name))
            return await self._stored(avatar_key(realm_id, name, medium=bool(found[3])), _THEIRS, is_used=is_used)
        if found := _EMOJI.fullmatch(path):
            realm_id, name = int(found[1]), found[2]
            is_used = await self._ask(lambda reader: is_emoji(reader, realm_id, name))
            return await self._stored(emoji_key(realm_id, name), FOR_EVER, is_used=is_used)
        if found := _OF_REALM.fullmatch(path):
            realm_id, kind, name = int(found[1]), found[2], found[3]
            is_used = await self._ask(lambda reader: is_of_realm(reader, realm_id, kind, name))
            return await self._stored(realm_key(realm_id, kind, name), FOR_EVER, is_used=is_used)
        if found := _REMOTE.fullmatch(path):
            return await self._remote(int(found[1]), found[2], found[3])
        return None

    async def _ask(self, is_used: Callable[[Reader], Awaitable[bool]]) -> bool:
        """Whether a picture is in use. An event may be heard a moment before others see what it tells, and whoever hears it asks
        at once: so a picture that nobody uses is asked for twice."""
        async with self._database.reader() as reader:
            if await is_used(reader):
                return True
        await asyncio.sleep(MOMENT_SECONDS)
        async with self._database.reader() as reader:
            return await is_used(reader)

    async def _drawn(self, scope: Scope, receive: Receive, user_id: int, *, medium: bool) -> Shown:
        if found := await self._avatars.find(scope, receive, user_id, medium=medium):
            location = (b"location", found.location.encode("latin-1"))
            return Shown(302, "text/plain", b"", _SOON, (location, *found.headers))
        # From the number alone: whether there is such a user is nobody's business who is not logged in.
        cache = FOR_EVER if b"v=" in scope["query_string"] else _SOON
        return Shown(200, "image/svg+xml", identicon(user_id, MEDIUM if medium else SMALL), cache)

    async def _remote(self, realm_id: int, signature: str, form: str | None) -> Shown:
        """A picture from elsewhere. It is never fetched from here: whoever reads would be seen by whoever has it."""
        async with self._database.reader() as reader:
            picture = await find_remote(reader, realm_id, signature)
        if picture is None:
            return refused(not_found())
        if form is None and picture.state == State.WAITING:
            return Shown(200, "image/svg+xml", LOADER, "no-store")
        forms = [picture.form] if form is None else [one for one in picture.forms if one.name == form]
        if picture.key is None or not forms:
            return refused(not_found())
        return await self._stored(thumbnail_key(picture.key, forms[0]), _THEIRS if form else _SOON, is_used=True)

    async def _stored(self, key: str, cache: str, *, is_used: bool) -> Shown:
        if not is_used:
            return refused(not_found())
        try:
            body = await (await self._store.get(key)).read()
        except NotStored:
            return refused(not_found())
        return Shown(200, content_type(key), body, cache)


def _our_own(path: str) -> Shown | None:
    """What is the same for everybody."""
    match path:
        case "/static/icon.svg" | "/favicon.ico":
            return Shown(200, "image/svg+xml", ICON, _DAY)
        case previews.LOADING:
            return Shown(200, "image/svg+xml", LOADER, _DAY)
        case embeds.NO_PICTURE:
            return Shown(200, "image/svg+xml", PAGE, _DAY)
        case typography.EXTRA_EMOJI_URL:
            return Shown(200, "image/png", extra_emoji(), _DAY)
    return None


def refused(refusal: Refusal) -> Shown:
    """The answer of a refusal."""
    headers = tuple((name.lower().encode(), value.encode()) for name, value in (refusal.headers or {}).items())
    return Shown(refusal.status, "application/json", error_body(refusal), headers=headers)
