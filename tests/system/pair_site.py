"""A site whose PostgreSQL has standbys, any of which may be promoted. Everybody reaches it by a list of all hosts."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tertulia.engines import ChildProcess, find_postgres, free_port
from tertulia.events.relay.source import Source, find_source
from tertulia.kernel.settings import load_settings
from tests.system.postgres_node import SLOTS_ARE_SYNCHRONISED_SINCE, Node, await_synced_slot, wait_until
from tests.system.relay_site import Site, administer, eventually, make_template, making

MOST_NODES = 3  # all have their ports from the beginning, so that everybody knows them


class PairSite(Site):
    """A primary and a standby of it. `waits`: whether commits wait for the standby; the relay always does."""

    def __init__(self, folder: Path, *, waits: bool = True, **settings: Any) -> None:
        self._ports = [free_port() for _ in range(MOST_NODES)]
        self.nodes = [Node(find_postgres(load_settings()), folder / "node0", self._ports[0])]
        super().__init__(self.nodes[0], folder, confirm_after_seconds=3.0, nats_sync_seconds=1, **settings)
        self.waits = waits

    @property
    def primary(self) -> Node:
        assert isinstance(self.postgres, Node)
        return self.postgres

    @property
    def standby(self) -> Node:
        return self.nodes[-1]

    @property
    def postgres_url(self) -> str:
        """All hosts, the present primary first: an old one may live beside it."""
        return self._url_of([self.primary.port, *(port for port in self._ports if port != self.primary.port)])

    def _url_of(self, ports: Sequence[int]) -> str:
        """An address with several hosts, in this order."""
        user, at, _ = self.nodes[0].url_of(self.database).partition("@")
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return f"{user}{at}{hosts}/{self.database}?target_session_attrs=primary"

    def start(self) -> None:
        self.primary.start()
        make_template(self.primary)
        super().start()
        self.add_standby()

    def add_standby(self) -> Node:
        """One more, which the primary waits for from now on."""
        number = len(self.nodes)
        name, standby = (
            f"standby{number}",
            Node(self.primary._bin_dir, self.folder / f"node{number}", self._ports[number]),
        )
        source = standby.copy_from(self.primary, "127.0.0.1", name)
        settings = {"primary_conninfo": source, "primary_slot_name": name, "hot_standby_feedback": "on"}
        if standby.version >= SLOTS_ARE_SYNCHRONISED_SINCE:
            settings["sync_replication_slots"] = "on"
        standby.set(**settings)
        standby.start_standby()
        self.nodes.append(standby)
        self.await_standby(name)
        return standby

    def await_standby(self, name: str) -> None:
        """Let the primary wait for nobody else than this one."""
        settings = {"synchronous_standby_names": name if self.waits else ""}
        if self.primary.version >= SLOTS_ARE_SYNCHRONISED_SINCE:
            settings["synchronized_standby_slots"] = name
        self.primary.reload(**settings)

    def stop(self) -> None:
        for relay in self.relays:
            relay.kill()
        self.nats.stop()
        for node in reversed(self.nodes):
            if node._process is not None:
                node.kill()

    async def ready_for_failover(self) -> None:
        """Until the standby has the slot, and the relay has written down what commits wait for."""

        async def is_noted() -> bool:
            source = await self.source()
            return source is not None and (source.waits_since is not None) == self.waits

        await eventually(is_noted)
        await asyncio.to_thread(await_synced_slot, self.primary, self.standby, self.settings.slot)

    async def source(self) -> Source | None:
        async with self.connected() as nc:
            noted = await find_source(nc)
            return noted.source if noted else None

    def cut_standby_off(self) -> None:
        """From now on it gets nothing more."""
        self.standby.reload(primary_conninfo="", primary_slot_name=self._name, hot_standby_feedback="on")

        wait_until(lambda: not self.standby.ask("select 1 from pg_stat_wal_receiver"))

    @property
    def _name(self) -> str:
        return f"standby{len(self.nodes) - 1}"

    def fail_over(self) -> None:
        """The primary dies, the standby takes its place."""
        self.primary.kill()
        self.promote()

    def promote(self) -> None:
        """The standby becomes a primary; whatever the old one does."""
        self.standby.promote()
        self.postgres = self.standby

    def start_relay_at(self, *nodes: Node) -> ChildProcess:
        return self.start_relay(TERTULIA_POSTGRES_URL=self._url_of([node.port for node in nodes]))

    def run(self, statement: str) -> None:
        """At the primary, in our database."""
        administer(self.primary, statement, self.database)


@pytest.fixture
def make_pair(tmp_path: Path) -> Iterator[Callable[..., PairSite]]:
    yield from making(partial(PairSite, tmp_path))


@pytest.fixture
def pair(make_pair: Callable[..., PairSite]) -> PairSite:
    return make_pair()
