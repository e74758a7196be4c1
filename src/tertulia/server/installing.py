"""What makes the web client an app on a phone or a desktop: the manifest of each organization, and its icons.

Nobody has to be logged in for it, so it says what `GET /server_settings` says to everybody: the organization's name and icon.
"""

import re
from collections import OrderedDict
from typing import Any

import msgspec
import structlog

from tertulia.content.pictures.apart import app_icons
from tertulia.content.pictures.drawing import large_icon
from tertulia.content.pictures.fitting import NotAPicture
from tertulia.content.pictures.icons import PAPER, PLAIN_SIDES, AppIcons
from tertulia.content.pictures.places import DecodingPlaces
from tertulia.content.storage import NotStored, Store, StoreUnavailable
from tertulia.kernel.admission import Admission
from tertulia.kernel.call import Call, Receive, Scope
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.errors import Refusal, not_found, server_not_ready
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.pictures.actions import find_icon, key_of
from tertulia.organization.realms.queries import find_realm
from tertulia.server.gallery import FOR_EVER, Shown, refused

log = structlog.get_logger()

MANIFEST = "/manifest.webmanifest"
APPLE_ICON = "/apple-touch-icon.png"
SHARE = "/share"
_ICON = re.compile(r"/app_icons/([0-9a-f]{40}|default)/(maskable-192|maskable-512|192|512)\.png")
_ASK_AGAIN = "no-cache"
_DEFAULT = "default"
MAX_KEPT_BYTES = 32 * 1024 * 1024
"""Of icons that lie in memory. Those of an organization have a tenth of a megabyte mostly, and half of one at most."""
MAX_COLOURS = 10_000
"""Organizations of which is known what colour their icon has: their manifest, which every page asks for, needs no more."""
MAX_WAITING = 200
"""Of one network, which may ask for fewer at once, and networks."""


class About(msgspec.Struct, frozen=True):
    """What the manifest tells of an organization."""

    realm_id: int
    name: str
    icon: str
    """The name of its picture, or `default`."""


class Installing:
    """Answers for the addresses that it knows."""

    def __init__(self, database: Database, store: Store, admission: Admission, settings: Settings) -> None:
        self._database = database
        self._store = store
        self._admission = admission
        self._settings = settings
        self._made: OrderedDict[str, AppIcons] = OrderedDict()
        self._bytes = 0
        self._colours: OrderedDict[str, str] = OrderedDict()
        self._places = DecodingPlaces(MAX_WAITING)

    async def find(self, scope: Scope, receive: Receive) -> Shown | None:
        """The answer; None where it is somebody else's."""
        path = scope["path"]
        icon = _ICON.fullmatch(path)
        if path == SHARE:
            # The service worker takes what is shared; without one the page at least opens.
            return Shown(303, "text/plain", b"", headers=((b"location", b"/"),))
        if icon is None and path not in (MANIFEST, APPLE_ICON):
            return None
        call = Call(scope, receive, self._settings.external_host)
        try:
            # Nobody is asked who they are, so their network stands for them, as for other pictures.
            async with self._admission.let_network_in(call):
                about = await self._about(call)
                if icon is not None and icon[1] != about.icon:
                    raise not_found()
                if path == MANIFEST:
                    body = msgspec.json.encode(manifest_of(about.name, about.icon, await self._colour(call, about)))
                    return Shown(200, "application/manifest+json", body, _ASK_AGAIN)
                icons = await self._icons(call, about)
        except Refusal as refusal:
            return refused(refusal)
        except (*LOST, StoreUnavailable) as error:
            log.warning("the manifest could not be shown", error=repr(error))
            return refused(server_not_ready("The server cannot reach its files right now. Please try again."))
        if icon is None:
            return Shown(200, "image/png", icons.icons["apple"], _ASK_AGAIN)
        return Shown(200, "image/png", icons.icons[icon[2]], FOR_EVER)

    async def _about(self, call: Call) -> About:
        """The organization at this address; at the server's own there need not be one."""
        async with self._database.reader() as reader:
            realm = None if call.subdomain is None else await find_realm(reader, call.subdomain)
            if realm is None:
                if call.subdomain != "":
                    raise not_found()
                return About(0, "Tertulia", _DEFAULT)
            return About(realm.id, realm.name, await find_icon(reader, realm.id) or _DEFAULT)

    async def _colour(self, call: Call, about: About) -> str:
        return self._colours.get(about.icon) or (await self._icons(call, about)).colour

    async def _icons(self, call: Call, about: About) -> AppIcons:
        """Made once for each picture. It takes a processor for a moment: whoever asks for those of many organizations waits for
        their own, and others come after one of them."""
        if (known := self._made.get(about.icon)) is None:
            async with self._places.enter(call.payer):
                if (known := self._made.get(about.icon)) is None:
                    known = await self._make(about)
                    self._keep(about.icon, known)
        else:
            self._made.move_to_end(about.icon)
        return known

    def _keep(self, name: str, icons: AppIcons) -> None:
        self._colours[name] = icons.colour
        while len(self._colours) > MAX_COLOURS:
            self._colours.popitem(last=False)
        if (former := self._made.get(name)) is not None:  # somebody else made them at the same time
            self._bytes -= _size(former)
        self._made[name] = icons
        self._bytes += _size(icons)
        while self._bytes > MAX_KEPT_BYTES:
            self._bytes -= _size(self._made.popitem(last=False)[1])

    async def _make(self, about: About) -> AppIcons:
        if about.icon != _DEFAULT:
            try:
                picture = await self._store.get(key_of(about.realm_id, "icon", about.icon))
                return await app_icons(await picture.read())
            except (NotStored, NotAPicture) as error:
                log.warning("an organization's icon could not be read", realm=about.realm_id, error=repr(error))
        return await app_icons(large_icon())


def _size(icons: AppIcons) -> int:
    return sum(map(len, icons.icons.values()))


def manifest_of(name: str, icon: str, colour: str) -> dict[str, Any]:
    """The manifest of an organization."""

    def picture(side: int, purpose: str) -> dict[str, str]:
        file = f"{side}" if purpose == "any" else f"{purpose}-{side}"
        sizes = f"{side}x{side}"
        return {"src": f"/app_icons/{icon}/{file}.png", "sizes": sizes, "type": "image/png", "purpose": purpose}

    return {
        "id": "/",
        "name": name,
        "short_name": name,
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": colour,
        "background_color": PAPER,
        "icons": [picture(side, purpose) for purpose in ("any", "maskable") for side in PLAIN_SIDES],
        "share_target": {
            "action": SHARE,
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {
                "title": "title",
                "text": "text",
                "url": "url",
                "files": [{"name": "files", "accept": ["*/*"]}],
            },
        },
    }
