"""Asking other servers for pages. The worker's job, and nobody else's: never at a send, never at a reader's request.

As for pictures (files/remote_pictures/fetching.py), what is asked tells nothing of who writes or reads. Of a page only the
beginning is read, and only if it says that it is one; what it says of itself is taken from there by content/webpages.py.
"""

from collections.abc import Sequence

from tertulia.content.markup.remote import MAX_ADDRESS, signed
from tertulia.content.webpages import PageFacts, read_page
from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.fetching import Due, Fetcher
from tertulia.kernel.outbound import Outbound, Unwanted, Wanted
from tertulia.kernel.settings import Settings
from tertulia.messaging.link_previews import queries

MAX_BYTES = 512 * 1024
SECONDS = 6.0
"""For each of at most four requests."""
CLAIMED_SECONDS = 120.0
MAX_LINKED = 50
"""Messages whose picture is asked for at once; others follow when they show the preview."""
_PAGES = ("text/html", "application/xhtml+xml")
_ASKED = {"Accept": "text/html,application/xhtml+xml;q=0.9", "Accept-Encoding": "identity"}


class PageFetching(Fetcher):
    """Fetches pages."""

    what = "a page"
    retry_seconds = (5.0, 60.0)

    def __init__(self, database: Database, settings: Settings) -> None:
        super().__init__(database)
        self._is_allowed = settings.link_previews
        self._outbound = Outbound(
            settings, seconds=SECONDS, networks=settings.picture_networks, blocked=settings.preview_blocked_hosts
        )

    async def claim(self, tx: Transaction, limit: int, busy: Sequence[Sequence[int]]) -> list[Due]:
        """Of Fetcher."""
        return await queries.claim(tx, limit, busy, CLAIMED_SECONDS)

    async def give_up(self, tx: Transaction, one: Due) -> None:
        """Of Fetcher."""
        await queries.give_up(tx, one.id)

    async def put_off(self, tx: Transaction, one: Due, seconds: float) -> None:
        """Of Fetcher."""
        await queries.put_off(tx, one.id, seconds)

    async def start_due(self) -> int:
        """Of Fetcher. Nothing, where the operator wants no previews."""
        return await super().start_due() if self._is_allowed else 0

    async def fetch(self, one: Due) -> None:
        """Of Fetcher."""
        found = await self._outbound.follow(one.url, _ASKED, Wanted(MAX_BYTES, _PAGES, is_cut=True))
        headers = found.answer.headers
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise Unwanted("the answer is packed")
        facts = read_page(found.answer.body, headers.get("content-type", ""), found.url)
        if facts is None:
            raise Unwanted("the page says nothing of itself")
        await self._keep(one, facts)

    async def _keep(self, page: Due, facts: PageFacts) -> None:
        async with self._database.transaction() as tx:
            key = await queries.picture_key_of(tx, page.realm_id) if facts.picture else ""
            picture = signed(key, facts.picture) if key and len(facts.picture) <= MAX_ADDRESS else None
            await queries.finish(tx, page.id, facts, picture)
            if picture and (waiting := await queries.hold_waiting(tx, page.id, MAX_LINKED)):
                await link_remote(tx, [(message_id, page.realm_id, picture) for message_id in waiting])
