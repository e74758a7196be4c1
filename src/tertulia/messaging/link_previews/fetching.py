"""Asking other servers for pages. The worker's job, and nobody else's: never at a send, never at a reader's request.

As for pictures (files/remote_pictures/fetching.py), what is asked tells nothing of who writes or reads. Of a page only the
beginning is read, and only if it says that it is one; what it says of itself is taken from there by content/webpages.py.
"""

import structlog

from tertulia.content.markup.remote import MAX_ADDRESS, signed
from tertulia.content.webpages import PageFacts, read_page
from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.outbound import Outbound, Unreachable, Unwanted, Wanted
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import BoundedTasks
from tertulia.messaging.link_previews import queries
from tertulia.messaging.link_previews.model import Due

log = structlog.get_logger()

MAX_RUNNING = 16
MAX_OF_ONE_REALM = 8
MAX_OF_ONE_PERSON = 4
MAX_BYTES = 512 * 1024
SECONDS = 6.0
"""For each of at most four requests."""
CLAIMED_SECONDS = 120.0
RETRY_SECONDS = (5.0, 60.0)
"""After each failure that may pass."""
MAX_LINKED = 50
"""Messages whose picture is asked for at once; others follow when they show the preview."""
_PAGES = ("text/html", "application/xhtml+xml")
_ASKED = {"Accept": "text/html,application/xhtml+xml;q=0.9", "Accept-Encoding": "identity"}


class PageFetching:
    """Fetches pages. Running requests go on while new ones are started; those lost with the process are made again."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._is_allowed = settings.link_previews
        self._outbound = Outbound(
            settings, seconds=SECONDS, networks=settings.picture_networks, blocked=settings.preview_blocked_hosts
        )
        self._tasks = BoundedTasks(MAX_RUNNING, MAX_OF_ONE_REALM, MAX_OF_ONE_PERSON)

    async def start_due(self) -> int:
        """Start what is due, as far as there is room; returns how many."""
        started = 0
        while self._is_allowed and started < MAX_RUNNING and (room := self._tasks.room):
            async with self._database.transaction() as tx:
                claimed = await queries.claim(tx, room, self._tasks.busy(), CLAIMED_SECONDS)
            if not claimed:
                break
            for page in claimed:
                self._tasks.start(self._settle(page), page.realm_id, page.person)
            started += len(claimed)
        return started

    async def _settle(self, page: Due) -> None:
        try:
            await self._keep(page, await self._fetch(page))
        except Unwanted as error:
            log.info("no preview of a link", preview=page.id, reason=str(error))
            async with self._database.transaction() as tx:
                await queries.give_up(tx, page.id)
        except Unreachable as error:
            await self._try_later(page, str(error))
        except LOST as error:
            log.warning("a page is fetched again later", preview=page.id, error=repr(error))
        except Exception:
            log.exception("a page is fetched again later", preview=page.id)

    async def _try_later(self, page: Due, reason: str) -> None:
        log.info("a page is not to be had", preview=page.id, tries=page.tries, reason=reason)
        async with self._database.transaction() as tx:
            if page.tries > len(RETRY_SECONDS):
                await queries.give_up(tx, page.id)
            else:
                await queries.put_off(tx, page.id, RETRY_SECONDS[page.tries - 1])

    async def _fetch(self, page: Due) -> PageFacts:
        if page.tries > len(RETRY_SECONDS) + 1:
            raise Unwanted("whoever fetched it died each time")
        found = await self._outbound.follow(page.url, _ASKED, Wanted(MAX_BYTES, _PAGES, is_cut=True))
        headers = found.answer.headers
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise Unwanted("the answer is packed")
        facts = read_page(found.answer.body, headers.get("content-type", ""), found.url)
        if facts is None:
            raise Unwanted("the page says nothing of itself")
        return facts

    async def _keep(self, page: Due, facts: PageFacts) -> None:
        async with self._database.transaction() as tx:
            key = await queries.picture_key_of(tx, page.realm_id) if facts.picture else ""
            picture = signed(key, facts.picture) if key and len(facts.picture) <= MAX_ADDRESS else None
            await queries.finish(tx, page.id, facts, picture)
            if picture and (waiting := await queries.hold_waiting(tx, page.id, MAX_LINKED)):
                await link_remote(tx, [(message_id, page.realm_id, picture) for message_id in waiting])
