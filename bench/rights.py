"""May they? 100,000 users, 1,000 groups nested ten deep, a group of 50,000: what one question costs the database.

Database time is the mean of many questions asked inside PostgreSQL, so it holds no way to it and back; the round trip is
what a request waits. `nest` is a chain of ten groups; `tree` holds all thousand, and whoever is not in it is looked for
in every one of them: the worst there is.
"""

import asyncio
import itertools
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from bench.report import Figure, Report
from tertulia.engines import Postgres, find_postgres
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.settings import load_settings
from tertulia.migrations import migrate
from tertulia.organization.groups import queries
from tertulia.organization.groups.records import group_records
from tertulia.organization.groups.rights import is_member, members_among
from tertulia.organization.groups.roles import RoleMembers
from tertulia.organization.realms.actions import create_realm

DEPTH = 10

_USERS = """
insert into account (realm_id, email, email_key, full_name, role)
select $1, 'u' || n || '@example.com', 'u' || n || '@example.com', 'User ' || n, 400 from generate_series(1, $2::int) as n
returning id
"""
_GROUPS = """
insert into user_group (realm_id, name, can_add_members_group, can_join_group, can_leave_group, can_manage_group,
    can_mention_group, can_remove_members_group)
select $1, 'group ' || n, nobody.id, nobody.id, nobody.id, nobody.id, nobody.id, nobody.id
from generate_series(1, $2::int) as n, user_group as nobody
where nobody.realm_id = $1 and nobody.name = 'role:nobody' order by n returning id
"""
_SUBGROUPS = (
    "insert into group_subgroup (realm_id, group_id, subgroup_id) select $1, * from unnest($2::bigint[], $3::bigint[])"
)
_MEMBERS = "insert into group_member (realm_id, group_id, user_id) select $1, * from unnest($2::bigint[], $3::bigint[])"
_TIMED = """
create function pg_temp.timed(who bigint, wanted bigint, times int) returns double precision language plpgsql as $$
declare began timestamptz; answer boolean;
begin
    for i in 1..50 loop answer := is_group_member(who, wanted); end loop;
    began := clock_timestamp();
    for i in 1..times loop answer := is_group_member(who, wanted); end loop;
    return extract(epoch from clock_timestamp() - began) * 1000 / times;
end $$
"""


class Scene(NamedTuple):
    realm_id: int
    nest: int
    """The top of the chain of ten; its last group has the 50,000."""
    tree: int
    """The top of everything."""
    big: int
    deep: int
    """A user in the last group of the chain, and of the tree."""
    stranger: int
    """A user in no group."""
    users: list[int]


def measure(*, quick: bool) -> Report:
    users, groups, times = (5_000, 200, 100) if quick else (100_000, 1_000, 1_000)
    folder = Path(mkdtemp(prefix="tertulia-bench-"))
    try:
        with Postgres(find_postgres(load_settings()), folder) as postgres:
            migrate(postgres.url)
            figures = asyncio.run(_measure(postgres.url, users, groups, times))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Report("bench rights", {"users": users, "groups": groups, "depth": DEPTH, "big group": users // 2}, figures)


async def _measure(url: str, users: int, groups: int, times: int) -> list[Figure]:
    async with await Database.connect(url, shards=4) as database:
        async with database.transaction() as tx:
            scene = await make_scene(tx, users, groups)
        async with database.reader() as reader:
            await reader.fetch("vacuum analyze")
            await reader.fetch(_TIMED)
            asked = {
                "member at the bottom of a nest of 10": (scene.deep, scene.nest),
                "no member of the nest": (scene.stranger, scene.nest),
                f"member in the last of {groups} nested groups": (scene.deep, scene.tree),
                f"no member of {groups} nested groups": (scene.stranger, scene.tree),
                f"member of a group of {users // 2:,}": (scene.users[users // 2 - 1], scene.big),
            }
            figures = [await _ask(reader, name, *pair, times) for name, pair in asked.items()]
            for count in (100, 10_000):
                some = scene.users[:: max(1, users // count)][:count]
                took = await _clock(lambda some=some: members_among(reader, scene.tree, some), 20)  # type: ignore[misc]
                figures.append(Figure(f"which of {len(some):,} users", took, "ms", note="round trip"))
            everybody = await _clock(lambda: queries.all_members(reader, scene.realm_id, [scene.big]), 5)
            figures.append(Figure(f"all members of a group of {users // 2:,}", everybody, "ms", note="round trip"))
            roles = RoleMembers()
            listed = await _clock(lambda: group_records(reader, scene.realm_id, roles, include_deactivated=True), 5)
            figures.append(Figure(f"the records of {groups} groups", listed, "ms", note="round trips"))
    return figures


async def _ask(reader: Reader, name: str, user_id: int, group_id: int, times: int) -> Figure:
    inside = await reader.fetchval("select pg_temp.timed($1, $2, $3)", user_id, group_id, times)
    trip = await _clock(lambda: is_member(reader, user_id, group_id), times)
    return Figure(name, inside, "ms", target="1 ms of database time", note=f"round trip {trip:.2f} ms")


async def _clock(question: Callable[[], Awaitable[object]], times: int) -> float:
    """Milliseconds of a question, the median."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await question()
        took.append(time.perf_counter() - began)
    return sorted(took)[len(took) // 2] * 1000


async def make_scene(tx: Transaction, users: int, groups: int) -> Scene:
    """A realm of that size. Chains of nine hang below one top group; the last group of the first chain is the big one."""
    realm_id = await create_realm(tx, f"rights-{time.time_ns()}"[:39], "Rights")
    user_ids = [row["id"] for row in await tx.fetch(_USERS, realm_id, users)]
    group_ids = [row["id"] for row in await tx.fetch(_GROUPS, realm_id, groups)]
    top, rest = group_ids[0], group_ids[1:]
    chains = [rest[start : start + DEPTH - 1] for start in range(0, len(rest), DEPTH - 1)]
    edges = [(top, chain[0]) for chain in chains]
    edges += [pair for chain in chains for pair in itertools.pairwise(chain)]
    nest = await tx.fetchrow(_GROUPS.replace("'group '", "'nest '"), realm_id, 1)
    assert nest is not None
    edges.append((nest["id"], chains[0][0]))
    await tx.execute(_SUBGROUPS, realm_id, *zip(*edges, strict=True))
    big, deep, stranger = chains[0][-1], user_ids[-2], user_ids[-1]
    members = [(big, user_id) for user_id in user_ids[: users // 2]]
    # Everybody but the stranger is in some groups, as people are.
    members += [
        (group_ids[(index * 7 + step) % len(group_ids)], user_id)
        for index, user_id in enumerate(user_ids[:-2])
        for step in (1, 2, 3)
        if group_ids[(index * 7 + step) % len(group_ids)] != big
    ]
    members += [(big, deep), (chains[-1][-1], deep)]
    rows = sorted(set(members))
    for start in range(0, len(rows), 20_000):
        await tx.execute(_MEMBERS, realm_id, *zip(*rows[start : start + 20_000], strict=True))
    return Scene(realm_id, nest["id"], top, big, deep, stranger, user_ids)
