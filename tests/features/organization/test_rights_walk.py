"""Random groups: the answers of the database are those of a plain walk in Python."""

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.rights import is_member, members_among
from tertulia.organization.realms.actions import create_realm
from tertulia.people.users.actions import create_user
from tests.harness.server import Server
from tests.harness.talk import unique

ROLES = (Role.OWNER, Role.ADMINISTRATOR, Role.MODERATOR, Role.MEMBER, Role.MEMBER, Role.MEMBER, Role.GUEST, Role.GUEST)
WAITING, DEACTIVATED = 4, 5
"""These two of them are new, and gone."""
LOWEST = {"role:nobody": 0, "role:owners": 100, "role:administrators": 200, "role:moderators": 300}
LOWEST |= {"role:fullmembers": 400, "role:members": 400, "role:everyone": 600, "role:internet": 600}
SYSTEMS = tuple(LOWEST)
MAX_GROUPS = 12


class Graph(NamedTuple):
    """Groups by number. A group holds only later ones, so there is no cycle; nothing holds an anonymous one."""

    anonymous: tuple[bool, ...]
    members: frozenset[tuple[int, int]]
    subgroups: frozenset[tuple[int, int]]
    systems: frozenset[tuple[int, str]]
    off: frozenset[int] = frozenset()
    """Deactivated: they give nothing to what holds them."""


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(1, MAX_GROUPS))
    anonymous = tuple(draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    numbers = st.integers(0, count - 1)
    members = draw(st.frozensets(st.tuples(numbers, st.integers(0, len(ROLES) - 1)), max_size=count * 3))
    pairs = draw(st.frozensets(st.tuples(numbers, numbers), max_size=count * 3))
    subgroups = frozenset((above, below) for above, below in pairs if above < below and not anonymous[below])
    systems = draw(st.frozensets(st.tuples(numbers, st.sampled_from(SYSTEMS)), max_size=count))
    off = frozenset(number for number in draw(st.frozensets(numbers, max_size=2)) if not anonymous[number])
    return Graph(anonymous, members, subgroups, systems, off)


def walk(graph: Graph, group: int) -> set[int]:
    """The users in a group: the plain way."""
    found = {user for holder, user in graph.members if holder == group}
    for holder, name in graph.systems:
        if holder == group:
            found |= {user for user, role in enumerate(ROLES) if role <= LOWEST[name]} - (
                {WAITING} if name == "role:fullmembers" else set()
            )
    for above, below in graph.subgroups:
        if above == group and below not in graph.off:
            found |= walk(graph, below)
    return found - {DEACTIVATED}


class Site(NamedTuple):
    runner: asyncio.Runner
    database: Database
    realm_id: int
    users: list[int]
    systems: dict[str, int]


@pytest.fixture(scope="module")
def site(server: Server) -> Iterator[Site]:
    with asyncio.Runner() as runner:
        database = runner.run(Database.connect(server.postgres_url, shards=Settings().shards, size=1))
        yield runner.run(make_site(runner, database))
        runner.run(database.close())


async def make_site(runner: asyncio.Runner, database: Database) -> Site:
    async with database.transaction() as tx:
        realm_id = await create_realm(tx, unique("walk").replace(" ", "-"), "Walk")
        users = []
        for role in ROLES:
            email = unique("walker").replace(" ", ".") + "@example.com"
            users.append(await create_user(tx, realm_id, email, "Walker", role))
        await tx.execute("update account set date_joined = now() - interval '9 days' where realm_id = $1", realm_id)
        await tx.execute("update account set date_joined = now() where id = $1", users[WAITING])
        await tx.execute("update account set is_active = false where id = $1", users[DEACTIVATED])
        await statements.set_waiting_period(tx, realm_id, 3)
        systems = {str(name): group_id for group_id, name in (await queries.system_groups(tx, realm_id)).items()}
    return Site(runner, database, realm_id, users, systems)


async def store(tx: Transaction, site: Site, graph: Graph) -> list[int]:
    """Put a graph into the database, one statement for each table; the ids of its groups."""
    nobody = site.systems["role:nobody"]
    names = [None if is_anonymous else unique("group") for is_anonymous in graph.anonymous]
    rows = await tx.fetch(
        """
        insert into user_group (realm_id, name, is_deactivated, can_add_members_group, can_join_group, can_leave_group,
            can_manage_group, can_mention_group, can_remove_members_group)
        select $1, name, is_off, $3, $3, $3, $3, $3, $3
        from unnest($2::text[], $4::boolean[]) with ordinality as made(name, is_off, ord) order by ord
        returning id
        """,
        site.realm_id,
        names,
        nobody,
        [number in graph.off for number in range(len(names))],
    )
    ids = [row["id"] for row in rows]
    edges = [(above, ids[below]) for above, below in graph.subgroups]
    edges += [(above, site.systems[name]) for above, name in graph.systems]
    await tx.execute(
        "insert into group_subgroup (realm_id, group_id, subgroup_id, is_anonymous) "
        "select $1, * from unnest($2::bigint[], $3::bigint[], $4::boolean[])",
        site.realm_id,
        [ids[above] for above, _ in edges],
        [below for _, below in edges],
        [graph.anonymous[above] for above, _ in edges],
    )
    await tx.execute(
        "insert into group_member (realm_id, group_id, user_id, is_anonymous) "
        "select $1, * from unnest($2::bigint[], $3::bigint[], $4::boolean[])",
        site.realm_id,
        [ids[group] for group, _ in graph.members],
        [site.users[user] for _, user in graph.members],
        [graph.anonymous[group] for group, _ in graph.members],
    )
    return ids


class Forget(Exception):
    """Rolls back."""


async def check(site: Site, graph: Graph) -> None:
    try:
        async with site.database.transaction() as tx:
            await tx.execute("set local plan_cache_mode = force_generic_plan")
            ids = await store(tx, site, graph)
            pairs = [(group, user) for group in range(len(ids)) for user in range(len(ROLES))]
            asked = await tx.fetch(
                "select is_group_member(who, wanted) from unnest($1::bigint[], $2::bigint[]) as pair(who, wanted)",
                [site.users[user] for _, user in pairs],
                [ids[group] for group, _ in pairs],
            )
            answers = {pair for pair, row in zip(pairs, asked, strict=True) if row[0]}
            for group, group_id in enumerate(ids):
                wanted = walk(graph, group)
                assert {user for holder, user in answers if holder == group} == wanted
                known = {site.users[user] for user in wanted}
                assert await members_among(tx, group_id, site.users) == known
                if group < 3:
                    assert set(await queries.all_members(tx, site.realm_id, [group_id])) == known
            last = len(ROLES) - 1
            assert await is_member(tx, site.users[last], ids[0]) == (last in walk(graph, 0))
            raise Forget
    except Forget:
        pass


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs())
def test_who_is_in_random_groups(site: Site, graph: Graph) -> None:
    site.runner.run(check(site, graph))


def test_a_nest_of_fifty_is_walked_to_its_bottom(site: Site) -> None:
    depth = 50
    graph = Graph(
        (False,) * depth, frozenset({(depth - 1, 3)}), frozenset((n, n + 1) for n in range(depth - 1)), frozenset()
    )
    site.runner.run(check(site, graph))
