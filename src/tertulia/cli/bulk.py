"""Write large data with COPY.

Order: users, channels, subscriptions, messages: who is subscribed has the messages in their history. At the end the
messages are marked read, which is what a grown organization looks like. Each step commits in portions, so an
interrupted fill leaves less, never something inconsistent: the numbers of a conversation advance with its messages, in
one transaction.

Subscriptions go through the channels feature, in large portions, because running web processes must hear of them.
"""

import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from tertulia.cli.errors import CommandFailed
from tertulia.cli.phrases import paragraph, person_name, topic_name
from tertulia.conversations.channels.actions import create_channel, subscribe
from tertulia.conversations.read_state.marks import Mark, Wildcard
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Connection, Database, Transaction
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import find_realm

_USERS_AT_ONCE = 20_000
_MESSAGES_AT_ONCE = 20_000
_SUBSCRIBERS_AT_ONCE = 20_000
_CHANNELS_AT_ONCE = 100
"""Whoever joins hears of so many in one event."""
_TOPICS_PER_CHANNEL = 20
_DAYS = 90
_LINK_EACH = 20
_MENTION_EACH = 40
_WILDCARD_EACH = 1000
_MANY_MESSAGES = 500_000
"""From here on it is quicker to make the indexes that no constraint needs anew than to keep them up."""

# Everybody is mentioned in turn, where they can read it.
_MENTION = """
insert into message_mark (user_id, flag, message_id)
select person, $6::smallint, message.id
from message, lateral (select ($5::bigint[])[1 + (seq / $4 + $1) % cardinality($5::bigint[])] as person) as mentioned
where conversation_id = $1 and seq between $2 and $3 and seq % $4 = 0
  and exists (select from read_state where read_state.conversation_id = $1 and user_id = person and upper_inf(history))
"""


class Wanted(NamedTuple):
    users: int
    channels: int
    messages: int
    subscribers: int | None
    unread: bool = False


class Filled(NamedTuple):
    users: int
    channels: list[dict[str, object]]
    messages: int


class _Channel(NamedTuple):
    id: int
    name: str


async def fill_database(settings: Settings, subdomain: str, wanted: Wanted, console: Console) -> Filled:
    columns = (TextColumn("{task.description:13}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        async with await Database.connect(
            settings.postgres_url, shards=settings.shards, size=2, sealer=sealer_of(settings)
        ) as database:
            return await _Fill(database, progress, await _realm_id(database, subdomain)).run(wanted)


class _Fill:
    def __init__(self, database: Database, progress: Progress, realm_id: int) -> None:
        self._database = database
        self._progress = progress
        self._realm_id = realm_id
        self._random = random.Random(4711)  # the same data each time: measurements can be compared

    async def run(self, wanted: Wanted) -> Filled:
        await self._check(wanted)
        await self._add_users(wanted.users)
        channels = await self._add_channels(wanted.channels)
        people = await self._people()
        await self._subscribe(channels, people, wanted.subscribers)
        if wanted.messages:
            async with self._few_indexes(wanted.messages):
                await self._add_messages(channels, people, wanted.messages)
            if not wanted.unread:
                await self._mark_read(channels)
        await self._tidy()
        names: list[dict[str, object]] = [{"stream_id": channel.id, "name": channel.name} for channel in channels]
        return Filled(wanted.users, names, wanted.messages)

    async def _check(self, wanted: Wanted) -> None:
        there = len(await self._people()) + wanted.users
        if wanted.subscribers is not None and wanted.subscribers > there:
            raise CommandFailed(
                f"{wanted.subscribers:,} subscribers need as many people, but there are {there:,} with the new ones. "
                f"Add more with --users."
            )

    async def _add_users(self, count: int) -> None:
        task = self._task("users", count)
        async with self._database.reader() as reader:
            start = await reader.fetchval("select coalesce(max(id), 0) from account")
        columns = ("realm_id", "email", "email_key", "full_name")
        for portion in _portions(count, _USERS_AT_ONCE):
            rows = [self._user(start + number) for number in portion]
            async with self._database.transaction() as tx:
                await tx.connection.copy_records_to_table("account", records=rows, columns=columns)
            self._progress.advance(task, len(rows))

    def _user(self, number: int) -> tuple[int, str, str, str]:
        email = f"filled{number}@example.com"
        return self._realm_id, email, email, person_name(self._random)

    async def _people(self) -> list[int]:
        """Everybody who may be subscribed: the demo people first, then the filled ones in order."""
        sql = "select id from account where realm_id = $1 and bot_type is null and is_active and role < $2 order by id"
        async with self._database.reader() as reader:
            return [row["id"] for row in await reader.fetch(sql, self._realm_id, Role.GUEST)]

    async def _add_channels(self, count: int) -> list[_Channel]:
        task = self._task("channels", count)
        async with self._database.reader() as reader:
            start = await reader.fetchval("select coalesce(max(id), 0) from conversation")
        channels = []
        for portion in _portions(count, _CHANNELS_AT_ONCE):
            async with self._database.transaction() as tx:
                for number in portion:
                    name = f"filled {start + number + 1}"
                    channels.append(_Channel(await create_channel(tx, self._realm_id, name), name))
            self._progress.advance(task, len(portion))
        return channels

    async def _add_messages(self, channels: Sequence[_Channel], people: Sequence[int], count: int) -> None:
        """Round after round over the channels, oldest first, so that ids and times grow together."""
        task = self._task("messages", count)
        clock = _Clock(count)
        each = max(1, min(_MESSAGES_AT_ONCE, count) // len(channels))
        left = count
        while left:
            async with self._database.transaction() as tx:
                await _trust_references(tx)
                for channel in channels:
                    portion = min(each, left)
                    if portion:
                        await self._add_portion(tx.connection, channel.id, people, clock, portion)
                    left -= portion
                    self._progress.advance(task, portion)

    @asynccontextmanager
    async def _few_indexes(self, count: int) -> AsyncIterator[None]:
        """Without the indexes of messages that are there for speed only; they are made again, whatever happens."""
        sql = """
        select indexname as name, indexdef as text from pg_indexes
        where tablename = 'message' and schemaname = current_schema() and indexname like 'message\\_%'
          and indexdef not like '%UNIQUE%' and $1
        """
        async with self._database.pool.acquire() as connection:
            dropped = await connection.fetch(sql, count >= _MANY_MESSAGES)
            for index in dropped:
                await connection.execute(f'drop index "{index["name"]}"')
        try:
            yield
        finally:
            task = self._task("indexes", len(dropped))
            async with self._database.pool.acquire() as connection:
                await connection.execute("set statement_timeout = 0; set maintenance_work_mem = '256MB'")
                for index in dropped:
                    await connection.execute(index["text"])
                    self._progress.advance(task)

    async def _add_portion(
        self,
        connection: Connection,
        channel_id: int,
        people: Sequence[int],
        clock: "_Clock",
        count: int,
    ) -> None:
        sql = "update conversation set last_seq = last_seq + $2 where id = $1 returning last_seq"
        last = await connection.fetchval(sql, channel_id, count)
        first = last - count + 1
        topics = await self._topics(connection, channel_id)
        rows: list[tuple[object, ...]] = []
        newest: dict[int, int] = {}
        for seq in range(first, last + 1):
            # Talk comes in runs: a topic goes on for a while before the next one has its turn.
            topic_id = topics[(seq // 7) % len(topics)]
            content = paragraph(self._random)
            sender = people[self._random.randrange(len(people))]
            base = (self._realm_id, channel_id, seq, topic_id, sender)
            holds = (seq % _LINK_EACH == 0, Wildcard.CHANNEL if seq % _WILDCARD_EACH == 0 else 0)
            rows.append((*base, clock.next(), "fill", content, f"<p>{content}</p>", *holds))
            newest[topic_id] = seq
        columns = ("realm_id", "conversation_id", "seq", "topic_id", "sender_id", "sent_at", "client", "content")
        more = ("rendered", "has_link", "wildcard")
        await connection.copy_records_to_table("message", records=rows, columns=(*columns, *more))
        await connection.execute(_MENTION, channel_id, first, last, _MENTION_EACH, people, Mark.MENTIONED)
        sql = "update topic set last_seq = seq from unnest($1::bigint[], $2::bigint[]) as new(id, seq) where topic.id = new.id"
        await connection.execute(sql, list(newest), list(newest.values()))

    async def _topics(self, connection: Connection, channel_id: int) -> list[int]:
        sql = "select id from topic where conversation_id = $1 order by id"
        found = [row["id"] for row in await connection.fetch(sql, channel_id)]
        if found:
            return found
        sql = """
        insert into topic (conversation_id, name, name_key) select $1, name, name from unnest($2::text[]) as name
        returning id
        """
        names = [topic_name(self._random, number) for number in range(_TOPICS_PER_CHANNEL)]
        return [row["id"] for row in await connection.fetch(sql, channel_id, names)]

    async def _subscribe(self, channels: Sequence[_Channel], people: Sequence[int], count: int | None) -> None:
        each = len(people) if count is None else count
        task = self._task("subscriptions", each * len(channels))
        # Small channels together, a large one in parts.
        for some in _portions(len(channels), min(_CHANNELS_AT_ONCE, _SUBSCRIBERS_AT_ONCE // max(1, each)) or 1):
            ids = [channels[number].id for number in some]
            for portion in _portions(each, _SUBSCRIBERS_AT_ONCE):
                async with self._database.transaction() as tx:
                    await tx.execute("set local statement_timeout = 0")
                    await subscribe(tx, self._realm_id, ids, people[portion.start : portion.stop])
                self._progress.advance(task, len(portion) * len(ids))

    async def _mark_read(self, channels: Sequence[_Channel]) -> None:
        task = self._task("read state", len(channels))
        sql = """
        update read_state set read = int8multirange(int8range(1, last_seq + 1))
        from conversation where conversation.id = any($1) and conversation_id = conversation.id
        """
        for some in _portions(len(channels), _CHANNELS_AT_ONCE):
            async with self._database.transaction() as tx:
                await tx.execute("set local statement_timeout = 0")
                await tx.execute(sql, [channels[number].id for number in some])
            self._progress.advance(task, len(some))

    async def _tidy(self) -> None:
        """What autovacuum would do some minutes later: without it the planner thinks the tables are empty."""
        async with self._database.pool.acquire() as connection:
            await connection.execute("set statement_timeout = 0")
            for table in (
                "account",
                "channel",
                "conversation",
                "subscription",
                "topic",
                "message",
                "message_mark",
                "read_state",
            ):
                await connection.execute(f"vacuum analyze {table}")

    def _task(self, name: str, total: int) -> TaskID:
        return self._progress.add_task(name, total=total, visible=total > 0)


async def _trust_references(tx: Transaction) -> None:
    """Skip the check of each foreign key in this transaction, where we may: every id was read from the database."""
    if await tx.fetchval("select usesuper from pg_user where usename = current_user"):
        await tx.execute("set local session_replication_role = replica")


class _Clock:
    """Moments at even distances from some months ago until now."""

    def __init__(self, count: int) -> None:
        self._step = timedelta(days=_DAYS) / count
        self._now = datetime.now(UTC) - timedelta(days=_DAYS)

    def next(self) -> datetime:
        self._now += self._step
        return self._now


def _portions(count: int, size: int) -> Iterator[range]:
    for start in range(0, count, size):
        yield range(start, min(start + size, count))


async def _realm_id(database: Database, subdomain: str) -> int:
    async with database.reader() as reader:
        realm = await find_realm(reader, subdomain)
    if realm is None:
        raise CommandFailed(f"There is no organization at the subdomain {subdomain!r}.")
    return realm.id
