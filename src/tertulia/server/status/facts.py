"""Asking the engines, on connections that are opened for it and closed again. Nothing is waited for without a limit."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import nats.errors

from tertulia.events.log.buckets import check_answers
from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.nats_client import NatsClient, nats_options
from tertulia.kernel.chores import Chore
from tertulia.kernel.disk import room_of_files
from tertulia.kernel.form import check_form
from tertulia.kernel.mail import choose_way
from tertulia.kernel.postgres import Connector, Limits
from tertulia.kernel.settings import Settings
from tertulia.server.measuring import backlogs_of
from tertulia.server.status.rules import Facts, Slot, Waiting

ENGINE_SECONDS: Final = 5.0

_ABOUT = r"""
select pg_is_in_recovery() as is_standby,
    (select count(*) from pg_stat_activity where backend_type = 'client backend')::integer as postgres_connections,
    current_setting('max_connections')::integer as postgres_most_connections,
    (select count(*) from pg_stat_activity where application_name ~ '^tertulia relay ')::integer as relays,
    (select count(*) from pg_stat_activity where application_name ~ '^tertulia worker ')::integer as workers,
    (select count(*) from pg_stat_activity where application_name ~ '^tertulia web ')::integer as webs
"""
_SLOT = """
select active as is_active, coalesce(wal_status = 'lost', false) as is_lost,
    coalesce(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn), 0)::bigint as kept_bytes,
    pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as flushed,
    stored, case when stored < pg_wal_lsn_diff(redo_lsn, '0/0')
        then extract(epoch from now() - checkpoint_time) else 0 end::float8 as late_seconds
from pg_replication_slots, pg_control_checkpoint(), lateral (
    select greatest(pg_wal_lsn_diff(confirmed_flush_lsn, '0/0')::bigint,
        (select seq from relay_checkpoint where shard = -1), 0) as stored
) as noted
where slot_name = $1
"""


async def find_facts(settings: Settings, chores: Sequence[Chore]) -> Facts:
    """As it is now. What cannot be asked is an error among the facts."""
    of_postgres, of_nats = await asyncio.gather(_of_postgres(settings, chores), _of_nats(settings))
    facts = Facts(has_mail=choose_way(settings) is not None)
    return msgspec.structs.replace(facts, **of_postgres, **of_nats, **_of_disk(settings))


async def _of_postgres(settings: Settings, chores: Sequence[Chore]) -> dict[str, Any]:
    try:
        async with asyncio.timeout(ENGINE_SECONDS):
            return await _ask_postgres(settings, chores)
    except TimeoutError:
        return {"postgres_error": f"no answer within {ENGINE_SECONDS:.0f} s"}
    except Exception as error:
        return {"postgres_error": _line(error)}


async def _ask_postgres(settings: Settings, chores: Sequence[Chore]) -> dict[str, Any]:
    pg = await Connector(settings.postgres_url, Limits()).connect()
    try:
        await check_form(pg)
        about = dict(await pg.fetchrow(_ABOUT) or {})
        if about["is_standby"]:
            return about
        slot = await pg.fetchrow(_SLOT, settings.slot)
        waiting = [Waiting(row["chore"], row["number"], row["oldest"]) for row in await pg.fetch(backlogs_of(chores))]
        return {**about, "slot": None if slot is None else Slot(**slot), "waiting": waiting}
    finally:
        pg.terminate()


async def _of_nats(settings: Settings) -> dict[str, str]:
    async def ignore(_: Exception) -> None:
        """The exception that ends the attempt says the same."""

    client = NatsClient()
    try:
        async with asyncio.timeout(ENGINE_SECONDS):
            await client.connect(
                **nats_options(settings), error_cb=ignore, connect_timeout=ENGINE_SECONDS, allow_reconnect=False
            )
            await check_answers(client, ENGINE_SECONDS)
    except TimeoutError:
        return {"nats_error": f"no answer within {ENGINE_SECONDS:.0f} s"}
    except (OSError, nats.errors.Error, StreamUnavailable) as error:
        return {"nats_error": _line(error)}
    finally:
        await client.close()
    return {}


def _of_disk(settings: Settings) -> dict[str, int]:
    room = room_of_files(settings)
    return {} if room is None else {"free_bytes": room.free, "disk_bytes": room.total}


def _line(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:300]
