"""The feeds of one process: opened when somebody listens to a realm, closed when nobody does, and kept honest.

Two things watch them: the epoch record, which says whose streams are valid, and an audit every few seconds, which finds
what no later event would reveal: events that were missed, and streams that are gone or were replaced.
Invariant: a feed is given out only for the epoch that is current; when the epoch ends, its feeds are buried, queues and all.
"""

import asyncio
import time
from collections.abc import Callable, Container
from contextlib import suppress

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from tertulia.events.log.epoch import EpochRecord, EpochWatch
from tertulia.events.log.jetstream import StreamInfo, StreamUnavailable
from tertulia.events.log.stream import EventStream, live_subject, parse_live
from tertulia.events.queues.feed import Feed
from tertulia.events.queues.queue import Queue
from tertulia.kernel.metrics import Durations
from tertulia.kernel.settings import Settings

log = structlog.get_logger()
HEARD_AFTER = Durations(
    "tertulia_event_delay_seconds",
    "From the commit of a change to the moment at which those who listen here have its event, by the clocks of both machines",
)

IDLE_SECONDS = 120.0
"""How long a feed without listeners is kept."""


class Feeds:
    """The realms somebody here listens to. `bury` is called for each queue whose feed has ended; `kinds`: of events."""

    def __init__(
        self, nc: Client, settings: Settings, bury: Callable[[Queue], None], kinds: Container[str] | None = None
    ) -> None:
        self._stream = EventStream(nc, settings.shards)
        self._nc = nc
        self._settings = settings
        self._bury_queue = bury
        self._kinds = kinds
        self._watch = EpochWatch(nc, settings.audit_seconds, self._epoch_changed)
        self._feeds: dict[int, Feed] = {}
        self._opening: dict[int, asyncio.Task[Feed]] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._empty_since: dict[int, float] = {}
        self._audit_now = asyncio.Event()

    @property
    def has_epoch(self) -> bool:
        """Whether a relay has opened the log."""
        return self._watch.current is not None

    async def watch(self) -> None:
        """Follow the epoch until cancelled."""
        await self._watch.run()

    def look_again(self) -> None:
        """NATS was away, or something unexpected was seen: look at the epoch and at every feed now."""
        self._watch.reconnected()
        self._audit_now.set()

    async def get(self, realm_id: int) -> Feed:
        """The realm's feed, opened if need be; concurrent callers share the opening."""
        self._empty_since.pop(realm_id, None)  # whoever asks is about to listen
        feed = self._feeds.get(realm_id)
        if feed is not None:
            return feed
        task = self._opening.get(realm_id)
        if task is None:
            task = self._opening[realm_id] = asyncio.create_task(self._open(realm_id))
            task.add_done_callback(lambda _: self._opening.pop(realm_id, None))
        return await asyncio.shield(task)

    async def info(self, feed: Feed) -> StreamInfo | None:
        """The stream that a feed follows; None if it is gone."""
        return await self._stream.info(feed.shard, feed.epoch)

    def close(self) -> None:
        """Stop reading."""
        for feed in self._feeds.values():
            feed.close()

    async def sweep(self) -> None:
        """Close the feeds nobody has listened to for a while."""
        now = time.monotonic()
        for realm_id, feed in list(self._feeds.items()):
            since = self._empty_since.setdefault(realm_id, now)
            if feed.queues:
                del self._empty_since[realm_id]
            elif now - since > IDLE_SECONDS:
                del self._empty_since[realm_id]
                await self._close(realm_id)

    async def audit(self) -> None:
        """Compare the feeds with the log, every few seconds, until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._audit_now.wait(), self._settings.audit_seconds)
            self._audit_now.clear()
            shards: dict[int, list[Feed]] = {}
            for feed in self._feeds.values():
                shards.setdefault(feed.shard, []).append(feed)
            for shard, feeds in shards.items():
                try:
                    await self._audit_shard(shard, feeds)
                except StreamUnavailable as reason:
                    log.debug("audit not possible now", shard=shard, reason=str(reason))
                except Exception:
                    log.exception("audit failed", shard=shard)

    async def _audit_shard(self, shard: int, feeds: list[Feed]) -> None:
        current = self._watch.current
        assert current is not None
        info = await self._stream.info(shard, current.epoch)
        announced = current.streams.get(str(shard))
        if self._watch.current is not current:
            return
        if info is None or announced is None or info.created != announced.created:
            log.error("the event stream is gone or another one: its queues end", shard=shard)
            self._bury(lambda feed: feed.shard == shard)
            return
        lasts = await self._stream.lasts(shard, current.epoch, [feed.subject for feed in feeds])
        for feed in feeds:
            feed.expect(lasts.get(feed.subject, 0))

    def _epoch_changed(self, record: EpochRecord) -> None:
        log.info("epoch", epoch=record.epoch, feeds=len(self._feeds))
        self._bury(lambda feed: feed.epoch != record.epoch)

    def _bury(self, is_dead: Callable[[Feed], bool]) -> None:
        """Declare the queues of feeds dead: their clients register again."""
        for realm_id, feed in list(self._feeds.items()):
            if not is_dead(feed):
                continue
            for queue in feed.queues:
                self._bury_queue(queue)
            del self._feeds[realm_id]
            feed.close()
            closing = asyncio.ensure_future(_unsubscribe(self._subscriptions.pop(realm_id)))
            closing.add_done_callback(lambda done: done.exception())

    async def _open(self, realm_id: int) -> Feed:
        current = self._watch.current
        if current is None:
            raise StreamUnavailable("no relay has opened the event log yet")
        feed = Feed(self._stream, realm_id, current.epoch, self._bury_queue, self._kinds)

        async def receive(msg: Msg) -> None:
            stored = parse_live(msg)
            feed.receive(stored)
            if stored.committed:
                HEARD_AFTER.observe(time.time() - stored.committed)

        subscription = await self._nc.subscribe(live_subject(feed.shard, realm_id), cb=receive)
        try:
            # The server must know of the subscription before the end of the log is looked up: nothing falls between.
            await self._nc.flush()
            await feed.open()
        except (nats.errors.Error, StreamUnavailable, OSError) as error:
            await _unsubscribe(subscription)
            raise StreamUnavailable(f"opening the log of realm {realm_id}: {error!r}") from error
        if self._watch.current is not current:
            feed.close()
            await _unsubscribe(subscription)
            raise StreamUnavailable("the epoch ended")
        self._feeds[realm_id] = feed
        self._subscriptions[realm_id] = subscription
        return feed

    async def _close(self, realm_id: int) -> None:
        feed = self._feeds.pop(realm_id)
        feed.close()
        await _unsubscribe(self._subscriptions.pop(realm_id))


async def _unsubscribe(subscription: Subscription) -> None:
    with suppress(nats.errors.Error, OSError):
        await subscription.unsubscribe()
