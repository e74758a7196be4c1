"""What NATS knows of the database whose log the streams hold: a key beside the epoch.

The relay's memory in PostgreSQL is no witness of a fail-over: an old primary that comes back does not know that it was
replaced, and an asynchronous standby does not know what it missed. So the relay writes down in NATS, before it publishes
anything, which timeline it follows, and whether commits wait for a standby: only then a promotion loses nothing that was
answered.
"""

from typing import Final

import msgspec
from nats.aio.client import Client

from tertulia.events.log.buckets import STATE_BUCKET, find_entry, put_entry
from tertulia.events.relay.lineage import Identity

SOURCE_KEY: Final = "source"


class Overtaken(Exception):
    """The streams follow a newer timeline: this database was a primary, and is to be left alone."""


class Source(msgspec.Struct, frozen=True):
    """The database that the streams follow."""

    system_identifier: str
    timeline: int
    waits_since: int | None = None
    """From this position of the log on, no commit was answered before a standby had it; None: they do not wait."""


class NotedSource(msgspec.Struct, frozen=True):
    source: Source
    revision: int


_decoder = msgspec.json.Decoder(Source)


async def find_source(nc: Client) -> NotedSource | None:
    """As the leader knows it."""
    entry = await find_entry(nc, STATE_BUCKET, SOURCE_KEY)
    return None if entry is None else NotedSource(_decoder.decode(entry.data), entry.revision)


async def note_source(
    nc: Client, identity: Identity, noted: NotedSource | None, waits_since: int | None = None
) -> NotedSource:
    """Write down what is followed from now on. Fails if another relay was faster."""
    source = Source(*identity, waits_since)
    if noted is not None and noted.source == source:
        return noted
    revision = noted.revision if noted else 0
    return NotedSource(source, await put_entry(nc, STATE_BUCKET, SOURCE_KEY, msgspec.json.encode(source), revision))


def check_not_overtaken(noted: NotedSource | None, identity: Identity) -> None:
    """Refuse a database that is older than what the streams follow.

    Of two primaries the one with the greater timeline was promoted later. A backup that was restored with an older timeline
    looks the same; but it has no slot, unless somebody copied the whole folder.
    """
    if noted is None or noted.source.system_identifier != identity.system_identifier:
        return
    if noted.source.timeline > identity.timeline:
        raise Overtaken(
            f"this database is on timeline {identity.timeline}, but events follow timeline {noted.source.timeline}: an old "
            "primary? If it is the one you want, drop its replication slot: a new epoch begins then"
        )
