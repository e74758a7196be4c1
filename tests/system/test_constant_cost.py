"""What a request costs does not grow with the audience: rows and statements at two sizes of a channel, and the plan of
the one query that would be slow in any other shape.

Rows are counted by PostgreSQL (pg_stat_user_tables), statements by pg_stat_statements, both for a whole server.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import httpx
import psycopg2
import pytest
from msgspec.structs import replace

from tertulia.conversations.read_state import queries as read_queries
from tertulia.conversations.read_state.marking import queries as change_queries
from tertulia.conversations.read_state.marks import Mark
from tertulia.messaging.narrows.conditions import Has, HasMark, IsHidden, IsMentioned, IsUnread, SentBy
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.search import Matches, parse_query
from tertulia.messaging.narrows.statements import ids_from
from tertulia.messaging.reading import windows
from tests.harness.server import PLAIN_HTTP, OwnServer, User
from tests.harness.talk import Speaker, check_success, speaking

pytestmark = [pytest.mark.system, pytest.mark.slow]

FEW, MANY = 10, 5_000
ROUNDS = 10
MAX_ROWS = 8

Name = TypeVar("Name")
Rows = dict[str, tuple[int, int, int]]
"""Inserted, updated and deleted, by table."""

# Round trips of a request, each of them one statement: nothing may be asked once per row, person or channel.
SEND_STATEMENTS = 7  # whose key, which channel; begin, lock, send, note it for the worker, commit
POLL_STATEMENTS = 1  # whose key
REGISTER_STATEMENTS = 6  # whose key; begin, who they are now, the state, what hangs on that, commit
OF_THE_RELAY = "select pg_current_snapshot()::text"  # one for all events that come at once, and no request waits for it
BESIDE = 2  # registrations with so many people take seconds, in which more runs beside them than beside other requests
FETCH_STATEMENTS = 4  # whose key, which channel, which messages; their rows with all that belongs to them


class Site:
    """A server with a small and a large channel, and a connection that counts."""

    def __init__(self, server: OwnServer) -> None:
        self.server = server
        self.pg = psycopg2.connect(server.postgres_url)
        self.pg.autocommit = True
        self.ask("create extension if not exists pg_stat_statements")
        self.fill(users=MANY)
        self.channels = {size: self.fill(channels=1, subscribers=size)[0] for size in (FEW, MANY)}
        self.sender = Speaker(server, server.members[0])

    def ask(self, sql: str, *arguments: object) -> list[tuple[Any, ...]]:
        with self.pg.cursor() as cursor:
            cursor.execute(sql, arguments)
            return cursor.fetchall() if cursor.description else []

    def fill(self, **wanted: int) -> list[int]:
        """`tertulia dev fill`; the ids of the new channels."""
        options = [part for name, number in wanted.items() for part in (f"--{name}", str(number))]
        command = [
            sys.executable,
            "-m",
            "tertulia",
            "dev",
            "fill",
            "--json",
            "--data",
            str(self.server.folder / "data"),
        ]
        done = subprocess.run([*command, *options], check=True, capture_output=True)
        return [channel["stream_id"] for channel in json.loads(done.stdout)["channels"]]

    def send(self, channel_id: int, content: str = "Hello") -> None:
        self.sender.send(channel_id, "constant cost", content, read_by_sender=True)

    def group(self, owner: User) -> str:
        """A group everybody but guests is in, and whom the sender may mention."""
        with speaking(self.server, owner) as speaker:
            groups = speaker.get("user_groups")["user_groups"]
            [members] = [group["id"] for group in groups if group["name"] == "role:members"]
            fields = {"name": "everybody", "description": "", "members": [], "subgroups": [members]}
            speaker.post("user_groups/create", **fields)
            [everyone] = [group["id"] for group in groups if group["name"] == "role:everyone"]
            check_success(speaker.request("PATCH", "realm", can_mention_many_users_group={"new": everyone}))
        return "everybody"

    def rows_of_each(self, acts: Mapping[Name, Callable[[], None]]) -> dict[Name, Rows]:
        """Rows inserted, updated and deleted by so many messages of each kind as ROUNDS, by table."""
        changed = {}
        for act in acts.values():
            act()  # the topic is there from now on, and followed by whoever follows it for this
        self._act_and_tell(act)
        before = self._counts()
        for name, act in acts.items():
            for _ in range(ROUNDS - 1):
                act()
            self._act_and_tell(act)
            after = self._counts()
            differences = {
                table: (new[0] - old[0], new[1] - old[1], new[2] - old[2])
                for table, new in after.items()
                if new != (old := before[table])
            }
            # What the worker did before it was stopped may be told only now. It did less than every message does.
            changed[name] = {table: rows for table, rows in differences.items() if sum(rows) >= ROUNDS}
            before = after
        return changed

    def _act_and_tell(self, act: Callable[[], None]) -> None:
        """Backends tell their counts, all tables at once, with the first commit more than a second after the last time."""
        time.sleep(1.1)
        act()
        [(stored,)] = self.ask("select count(*) from message")
        deadline = time.monotonic() + 30
        while self._counts()["message"][0] < stored:
            assert time.monotonic() < deadline, "PostgreSQL's counters did not move"
            time.sleep(0.05)

    def _counts(self) -> Rows:
        # The relay's memory is written once a second, however many messages there were; mails by the worker, which tells late.
        sql = """
        select relname, n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables
        where relname not like 'relay%%' and relname <> 'mail_outbox'
        """
        return {name: (inserted, updated, deleted) for name, inserted, updated, deleted in self.ask(sql)}

    def statements_of(self, act: Callable[[], object]) -> int:
        """Statements of one request: what runs beside it can only add to them, and seldom does so twice."""
        return min(self._counted_once(act), self._counted_once(act))

    def _counted_once(self, act: Callable[[], object]) -> int:
        """What runs beside the request, once in a while, is told apart by its count."""
        act()
        self.ask("select pg_stat_statements_reset()")
        for _ in range(ROUNDS):
            act()
        own = """
        select calls from pg_stat_statements
        where query not like '%%pg_stat_statements%%' and query <> %s and calls >= %s
        """
        return sum(int(calls) // ROUNDS for (calls,) in self.ask(own, OF_THE_RELAY, ROUNDS))


@contextmanager
def counted_server(folder: Path) -> Iterator[OwnServer]:
    """A server whose PostgreSQL counts statements, which it must be told before it starts."""
    (OwnServer.prepare(folder) / "local.conf").write_text("shared_preload_libraries = 'pg_stat_statements'\n")
    server = OwnServer.start(folder)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Without its worker, which looks for work several times a second and writes rows of each day and hour: all that would
    count. PostgreSQL tells of what it did last up to ten seconds later: it is stopped before the long filling, not before a
    count."""
    with (
        TemporaryDirectory(prefix="tertulia-test-", ignore_cleanup_errors=True) as folder,
        counted_server(Path(folder)) as server,
        server.paused("worker"),
    ):
        site = Site(server)
        yield site
        site.pg.close()
        site.sender.http.close()


@pytest.mark.timeout(300)
def test_a_message_writes_the_same_few_rows_whatever_the_size_of_the_channel(site: Site) -> None:
    rows = site.rows_of_each({size: partial(site.send, channel_id) for size, channel_id in site.channels.items()})
    assert rows[MANY] == rows[FEW]
    assert sum(map(sum, rows[MANY].values())) <= MAX_ROWS * ROUNDS
    assert rows[MANY]["message"] == (ROUNDS, 0, 0)


@pytest.mark.timeout(300)
def test_a_mention_adds_a_row_for_each_person_or_group_and_a_wildcard_none(site: Site) -> None:
    owner, first, second = site.server.owner, site.server.members[1], site.server.members[2]
    crew = site.group(owner)
    contents = {
        "nobody": "Hello",
        "one": f"Hello @**|{first.user_id}**",
        "two": f"Hello @**|{first.user_id}** and @**|{second.user_id}**",
        "group": f"Hello @*{crew}*",
        "everybody": "Hello @**topic** and @**all**",
    }
    rows = site.rows_of_each(
        {
            (kind, size): partial(site.send, channel_id, content)
            for size, channel_id in site.channels.items()
            for kind, content in contents.items()
        }
    )
    for size in (FEW, MANY):
        plain = rows["nobody", size]
        assert rows["one", size] == plain | {"message_mark": (ROUNDS, 0, 0)}
        assert rows["two", size] == plain | {"message_mark": (2 * ROUNDS, 0, 0)}
        assert rows["group", size] == plain | {"message_group_mention": (ROUNDS, 0, 0)}
        assert rows["everybody", size] == plain
    assert rows["nobody", FEW] == rows["nobody", MANY]


@pytest.mark.parametrize("size", [FEW, MANY])
def test_names_in_a_message_take_one_statement_more(site: Site, size: int) -> None:
    people = [site.server.members[1].user_id, site.server.members[2].user_id]
    for named in (people[:1], people):
        content = "Hello " + " ".join(f"@**|{user_id}**" for user_id in named)
        site.send(site.channels[size], content)
        assert site.statements_of(partial(site.send, site.channels[size], content)) == SEND_STATEMENTS + 1


@pytest.mark.parametrize("size", [FEW, MANY])
def test_a_message_takes_a_fixed_number_of_statements(site: Site, size: int) -> None:
    assert site.statements_of(lambda: site.send(site.channels[size])) == SEND_STATEMENTS


@pytest.mark.parametrize("size", [FEW, MANY])
def test_a_fetch_takes_a_fixed_number_of_statements(site: Site, size: int) -> None:
    for _ in range(20):
        site.send(site.channels[size])
    narrow = [{"operator": "channel", "operand": site.channels[size]}]
    # Not those of the tests before: messages that mention groups take one more.
    window = {"anchor": "newest", "num_before": 20, "num_after": 0, "narrow": narrow}
    assert site.statements_of(lambda: site.sender.get("messages", **window)) == FETCH_STATEMENTS


def test_a_poll_takes_one_statement_with_events_or_without(site: Site) -> None:
    queue = site.sender.post("register", event_types=["message"])
    fields = {"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"], "dont_block": True}
    assert site.statements_of(lambda: site.sender.get("events", **fields)) == POLL_STATEMENTS
    site.send(site.channels[FEW])
    deadline = time.monotonic() + 10
    while not site.sender.get("events", **fields)["events"]:
        assert time.monotonic() < deadline
    assert site.statements_of(lambda: site.sender.get("events", **fields)) == POLL_STATEMENTS


def test_a_registration_takes_few_statements_with_many_channels_and_messages_too(site: Site) -> None:
    # Its answer is not looked at: with so many people that would take far longer than the request.
    own = site.sender.http
    with httpx.Client(base_url=own.base_url, auth=own.auth, trust_env=False, verify=PLAIN_HTTP, timeout=30) as http:

        def register() -> None:
            http.post("register").raise_for_status()

        assert site.statements_of(register) <= REGISTER_STATEMENTS + BESIDE
        channels = site.fill(channels=30, messages=300, subscribers=FEW)
        site.ask("update read_state set read = '{}' where conversation_id = any(%s)", channels)
        assert site.statements_of(register) <= REGISTER_STATEMENTS + BESIDE


@pytest.fixture(scope="module")
def unread_readers(site: Site) -> tuple[int, int]:
    """Somebody in 100 channels with 5 unread messages each, and somebody with 2,500 gaps in one."""
    wide, deep = site.server.members[1].user_id, site.server.members[2].user_id
    site.ask("update read_state set read = int8multirange(int8range(1, 1000000)) where user_id in (%s, %s)", wide, deep)
    channels = site.fill(channels=100, messages=100 * 20, subscribers=FEW)
    large = site.fill(channels=1, messages=5000, subscribers=FEW)
    everything = "history = int8multirange(int8range(1, null))"
    unread = f"update read_state set {everything}, read = int8multirange(int8range(1, %s)) where user_id = %s"
    site.ask(f"{unread} and conversation_id = any(%s)", 16, wide, channels)
    every_second = "(select range_agg(int8range(n, n + 1)) from generate_series(1, 5000, 2) as n)"
    gaps = f"update read_state set {everything}, read = {every_second}"
    site.ask(f"{gaps} where user_id = %s and conversation_id = any(%s)", deep, large)
    site.ask("analyze")
    return wide, deep


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_unread_messages_are_found_by_one_index_scan_per_gap(
    site: Site, unread_readers: tuple[int, int], mode: str
) -> None:
    wide, deep = unread_readers
    site.ask(f"set plan_cache_mode = {mode}")
    for user_id, unread in ((wide, 100 * 5), (deep, 2500)):
        plan = _explain(site, user_id)
        [unread_rows] = [node for node in _nodes(plan["Plan"]) if node.get("Subplan Name") == "CTE unread"]
        assert unread_rows["Actual Rows"] == unread
        assert plan["Execution Time"] < 1000
        scans = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "message"]
        assert [(scan["Node Type"], scan["Index Name"]) for scan in scans] == [
            ("Index Scan", "message_conversation_id_seq_key")
        ]
        above = _parent(plan["Plan"], scans[0])
        if above["Node Type"] == "Subquery Scan":  # where muted people are left out
            above = _parent(plan["Plan"], above)
        assert above["Node Type"] == "Nested Loop"
        [outer] = [node for node in above["Plans"] if node["Parent Relationship"] == "Outer"]
        assert (outer["Node Type"], outer["CTE Name"]) == ("CTE Scan", "gaps")


@pytest.fixture(scope="module")
def full_channel(site: Site) -> int:
    """With 5,000 messages."""
    [channel] = site.fill(channels=1, messages=5000, subscribers=FEW)
    site.ask("analyze")
    return channel


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_many_messages_are_marked_read_by_index_scans_and_one_update(site: Site, full_channel: int, mode: str) -> None:
    reader, channel = site.server.guest.user_id, full_channel
    [(topic,)] = site.ask("select min(id) from topic where conversation_id = %s", channel)
    [(in_topic,)] = site.ask("select count(*) from message where topic_id = %s", topic)
    ids = [found for (found,) in site.ask("select id from message where conversation_id = %s", channel)]
    site.ask(f"set plan_cache_mode = {mode}")
    everything = "insert into read_state (user_id, conversation_id, history) values (%s, %s, '{[1,)}')"
    again = "on conflict (conversation_id, user_id) do update set history = '{[1,)}', read = '{}'"
    for sql, arguments, index, count in (
        (change_queries._READ_TOPIC, (reader, channel, 10**6, topic), "message_conversation_id_seq_key", in_topic),
        (change_queries._READ_CHANNEL, (reader, channel, 10**6), "message_conversation_id_seq_key", 5000),
        (change_queries._READ_MESSAGES, (reader, ids), "message_pkey", 5000),
    ):
        site.ask(f"{everything} {again}", reader, channel)
        plan = _marking(site, sql, arguments)
        scans = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "message"]
        assert [scan["Index Name"] for scan in scans if scan["Actual Loops"]] == [index]
        changed = "select sum(upper(part) - lower(part)) from read_state, unnest(read) as part where user_id = %s"
        assert site.ask(f"{changed} and conversation_id = %s", reader, channel) == [(count,)]
        assert plan["Execution Time"] < 1000


def _marking(site: Site, sql: str, arguments: tuple[object, ...]) -> dict[str, Any]:
    site.ask("deallocate all")
    types = ", ".join("bigint[]" if isinstance(one, list) else "bigint" for one in arguments)
    site.ask(f"prepare marking({types}) as {sql.replace('%', '%%')}")
    places = ", ".join(["%s"] * len(arguments))
    [(plans,)] = site.ask(f"explain (analyze, format json) execute marking({places})", *arguments)
    plan: dict[str, Any] = plans[0]
    return plan


def test_everything_received_is_found_whatever_the_sizes_of_its_conversations(site: Site) -> None:
    reader = site.server.members[1].user_id
    site.fill(channels=40, messages=400, subscribers=FEW)  # many small ones
    [large] = site.fill(channels=1, messages=500, subscribers=FEW)
    site.ask(
        "update read_state set history = '{[1,20),[40,)}' where user_id = %s and conversation_id = %s", reader, large
    )
    [(newest,)] = site.ask("select max(id) from message")
    for limit in (1, 2, 30, 100, 1000):
        for anchor in (0, newest // 2, newest - 50, newest, windows.NEWEST):
            for downwards, compare, direction in ((True, "<=", "desc"), (False, ">=", "asc")):
                plain = f"""
                select message.id from message join read_state using (conversation_id)
                where user_id = %s and seq <@ history and message.id {compare} %s
                order by message.id {direction} limit %s
                """
                found = ids_from(Narrowed(user_id=reader, realm_id=1), anchor, limit, downwards=downwards)
                asked = re.sub(r"\$(\d+)", r"%(p\1)s", found.sql.replace("%", "%%"))
                with site.pg.cursor() as cursor:
                    cursor.execute(asked, {f"p{place}": value for place, value in enumerate(found.arguments, start=1)})
                    assert cursor.fetchall() == site.ask(plain, reader, anchor, limit)


NARROWS: dict[str, Callable[[Narrowed, int], Narrowed]] = {
    "a channel": lambda narrow, channel: replace(narrow, conversation_id=channel, sees_all=True),
    "a protected channel": lambda narrow, channel: replace(narrow, conversation_id=channel),
    "everything received": lambda narrow, _: narrow,
    "everything but what is muted": lambda narrow, _: replace(narrow, conditions=(IsHidden(negated=True),)),
    "what is muted": lambda narrow, _: replace(narrow, conditions=(IsHidden(),)),
    "one's mentions": lambda narrow, _: replace(narrow, conditions=(IsMentioned(group_ids=(1, 2)),)),
    "stars": lambda narrow, _: replace(
        narrow, scope=Scope.REACHED, conditions=(HasMark(user_id=narrow.user_id, mark=Mark.STARRED),)
    ),
    "unread": lambda narrow, _: replace(narrow, conditions=(IsUnread(),)),
    "a sender": lambda narrow, _: replace(narrow, conditions=(SentBy(user_id=narrow.user_id),)),
    "links": lambda narrow, _: replace(narrow, conditions=(Has(what="link"),)),
    "a rare word": lambda narrow, _: replace(
        narrow, conditions=(Matches(query=parse_query('"zebra crossing"'), is_rare=True),)
    ),
    "a word that was only begun": lambda narrow, _: replace(
        narrow, conditions=(Matches(query=parse_query("zeb"), is_rare=True),)
    ),
}


@pytest.fixture(scope="module")
def narrow_channel(site: Site) -> int:
    """One of five with 1,000 messages each."""
    return site.fill(channels=5, messages=5000, subscribers=FEW)[0]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", NARROWS)
def test_a_narrow_walks_an_index_and_stops_when_it_has_enough(site: Site, narrow_channel: int, kind: str) -> None:
    reader = site.server.members[1].user_id
    narrow = NARROWS[kind](Narrowed(user_id=reader, realm_id=1), narrow_channel)
    for downwards in (True, False):
        statement = ids_from(narrow, windows.NEWEST if downwards else 0, 100, downwards=downwards)
        site.ask("set plan_cache_mode = force_generic_plan")
        types = dict(re.findall(r"\$(\d+)::(\w+(?:\[\])?)", statement.sql))
        kinds = ", ".join(types[str(place + 1)] for place in range(len(statement.arguments)))
        site.ask("deallocate all")
        site.ask(f"prepare narrow({kinds}) as {statement.sql.replace('%', '%%')}")
        places = ", ".join(["%s"] * len(statement.arguments))
        arguments = [list(value) if isinstance(value, tuple) else value for value in statement.arguments]
        [(plans,)] = site.ask(f"explain (analyze, format json) execute narrow({places})", *arguments)
        nodes = list(_nodes(plans[0]["Plan"]))
        large = ("message", "subscription", "read_state")
        read_whole = [node for node in nodes if node["Node Type"] == "Seq Scan" and node.get("Relation Name") in large]
        assert read_whole == [], read_whole[0]["Relation Name"]


def _explain(site: Site, user_id: int) -> dict[str, Any]:
    site.ask("deallocate all")
    site.ask(f"prepare unread(bigint, bigint, bigint, bigint) as {read_queries.UNREAD_BY_GAPS.replace('%', '%%')}")
    site.ask("execute unread(%s, 100000, null, 50000)", user_id)
    [(plans,)] = site.ask("explain (analyze, format json) execute unread(%s, 100000, null, 50000)", user_id)
    plan: dict[str, Any] = plans[0]
    return plan


def _parent(plan: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    [found] = [node for node in _nodes(plan) if child in node.get("Plans", [])]
    return found


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
