"""What "may they?" costs the database, at a size that fits into a test; `bin/bench rights` has the full one."""

import json

import pytest

from bench.rights import make_scene
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tests.harness.server import Server

USERS, GROUPS = 5_000, 200
MILLISECONDS = 1.0
BLOCKS = 150
"""Blocks of tables and indexes a question looks at: this does not depend on what else the machine does."""


class Forget(Exception):
    """Rolls back."""


async def cost_of(tx: Transaction, user_id: int, group_id: int) -> tuple[float, int]:
    """The best time of many, in milliseconds, and the blocks that were looked at."""
    sql = f"explain (analyze, buffers, format json) select is_group_member({user_id}, {group_id})"
    plans = [json.loads(await tx.fetchval(sql))[0] for _ in range(100)]
    best = min(plans, key=lambda plan: float(plan["Execution Time"]))
    return best["Execution Time"], best["Plan"]["Shared Hit Blocks"] + best["Plan"]["Shared Read Blocks"]


@pytest.mark.timed
@pytest.mark.slow
async def test_a_question_takes_less_than_a_millisecond_of_the_database(server: Server) -> None:
    async with await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database:
        try:
            async with database.transaction() as tx:
                scene = await make_scene(tx, USERS, GROUPS)
                await tx.execute("analyze account, user_group, group_member, group_subgroup")
                for user_id in (scene.deep, scene.stranger, scene.users[0]):
                    for group_id in (scene.nest, scene.tree, scene.big):
                        took, blocks = await cost_of(tx, user_id, group_id)
                        assert took < MILLISECONDS
                        assert blocks < BLOCKS
                raise Forget
        except Forget:
            pass
