"""Machines with addresses of their own on one machine, and the ways between them, each of which can be broken.

Linux answers for all of 127.0.0.0/8. Machine `T` listens at `127.X.T.T`; whoever is on machine `S` calls it by `127.X.S.T`, where
a link takes the connection and passes it on. So every program is told plain addresses and its usual ports, and the link of any
two machines can be frozen, cut, slowed down or reset in either direction. X is ours alone while we live.

A frozen link accepts and never answers; TCP itself (keepalives) still answers there, so only a program's own limits notice it.
A silent one does not even do that, where we may tell the kernel to drop its packets.
"""

import asyncio
import random
import re
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import uvloop

Direction = Literal["there", "back"]
BOTH: tuple[Direction, Direction] = ("there", "back")
DOCUMENTED = re.compile(r"10\.9\.0\.(\d+)")
"""Addresses in the files of deploy/cluster."""


@dataclass
class Way:
    """One direction of a link, as the connections that are open on it see it."""

    moving: asyncio.Event = field(default_factory=asyncio.Event)
    delay: float = 0.0
    bytes_per_second: float = 0.0

    def __post_init__(self) -> None:
        self.moving.set()


class Link:
    """From one machine to one port of another."""

    def __init__(self, source: int, target: int, port: int) -> None:
        self.source = source
        self.target = target
        self.port = port
        self.refuses = False
        self.ways: dict[Direction, Way] = {"there": Way(), "back": Way()}
        self.writers: set[asyncio.StreamWriter] = set()

    def __repr__(self) -> str:
        return f"{self.source}->{self.target}:{self.port}"


class Network:
    """All links, in a thread of their own. Calls return when they have taken effect."""

    def __init__(self) -> None:
        self._claim, self.octet = _claim_octet()
        _accept_packets(f"127.{self.octet}.")
        self._links: dict[tuple[int, int, int], Link] = {}
        self._servers: list[asyncio.Server] = []
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._thread.start()

    def close(self) -> None:
        _accept_packets(f"127.{self.octet}.")
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._claim.close()

    def home(self, machine: int) -> str:
        """Where the machine listens."""
        return f"127.{self.octet}.{machine}.{machine}"

    def address(self, source: int, target: int) -> str:
        """How the one machine calls the other."""
        return f"127.{self.octet}.{source}.{target}"

    def seen_from(self, source: int, text: str) -> str:
        """A documented configuration with the addresses that are right on that machine."""
        return DOCUMENTED.sub(lambda found: self.address(source, int(found[1])), text)

    def at_home(self, text: str) -> str:
        """A documented configuration with the addresses that the machines listen at, past all links: for programs that tell each
        other their addresses."""
        return DOCUMENTED.sub(lambda found: self.home(int(found[1])), text)

    def join(self, source: int, target: int, *ports: int) -> None:
        """Make the links from one machine to those ports of another."""
        for port in ports:
            if source != target and (source, target, port) not in self._links:
                link = self._links[source, target, port] = Link(source, target, port)
                self._run(self._listen(link))

    def links(self, source: int | None = None, target: int | None = None, port: int | None = None) -> list[Link]:
        """Those that fit; None fits all."""
        wanted = (source, target, port)
        return [
            link
            for key, link in self._links.items()
            if all(want is None or want == have for want, have in zip(wanted, key, strict=True))
        ]

    # What can happen to links. Both directions, unless told otherwise.

    def freeze(self, links: list[Link], *directions: Direction) -> None:
        """Nothing moves and nothing is closed, as when a cable is pulled."""
        self._run(self._each_way(links, directions, lambda way: way.moving.clear()))

    def silence(self, links: list[Link]) -> None:
        """Not even TCP answers, as when the machine is gone; they are only frozen where the kernel does not obey us."""
        self.freeze(links)
        for link in links:
            _firewall("-I", "INPUT", "-d", self._address_of(link), "-p", "tcp", "--dport", str(link.port), "-j", "DROP")

    def thaw(self, links: list[Link]) -> None:
        """What was frozen goes on as if nothing had been; refusals end; delays, too."""
        self._accept(links)
        self._run(self._restore(links))

    def forget(self, links: list[Link]) -> None:
        """New connections are passed on; frozen ones stay so for ever, as those to a machine that will not come back."""
        self._accept(links)
        self._run(self._replace(links))

    def delay(self, links: list[Link], seconds: float, *directions: Direction) -> None:
        self._run(self._each_way(links, directions, lambda way: setattr(way, "delay", seconds)))

    def slow_down(self, links: list[Link], bytes_per_second: float, *directions: Direction) -> None:
        self._run(self._each_way(links, directions, lambda way: setattr(way, "bytes_per_second", bytes_per_second)))

    def reset(self, links: list[Link]) -> None:
        """End all connections with RST; new ones are welcome."""
        self._run(self._reset(links))

    def cut(self, links: list[Link]) -> None:
        """End all connections and refuse new ones."""
        self._run(self._refuse(links))

    def _address_of(self, link: Link) -> str:
        return self.address(link.source, link.target)

    def _accept(self, links: list[Link]) -> None:
        _accept_packets(*(f"{self._address_of(link)}/32" for link in links))

    def _run(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(15)  # type: ignore[arg-type]

    async def _each_way(self, links: list[Link], directions: tuple[Direction, ...], change: object) -> None:
        for link in links:
            for direction in directions or BOTH:
                change(link.ways[direction])  # type: ignore[operator]

    async def _restore(self, links: list[Link]) -> None:
        for link in links:
            link.refuses = False
            for way in link.ways.values():
                way.delay = way.bytes_per_second = 0.0
                way.moving.set()

    async def _replace(self, links: list[Link]) -> None:
        for link in links:
            link.refuses = False
            link.ways = {"there": Way(), "back": Way()}

    async def _reset(self, links: list[Link]) -> None:
        for link in links:
            for writer in tuple(link.writers):
                _abort(writer)

    async def _refuse(self, links: list[Link]) -> None:
        for link in links:
            link.refuses = True
        await self._reset(links)

    async def _listen(self, link: Link) -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._pass(link, reader, writer)

        self._servers.append(await asyncio.start_server(connected, self._address_of(link), link.port, backlog=1024))

    async def _pass(self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if link.refuses:
            _abort(writer)
            return
        ways = link.ways
        link.writers.add(writer)
        try:
            if (said := await _until_moving(reader, ways["there"])) is None:
                return
            there, back = await asyncio.open_connection(self.home(link.target), link.port)
            link.writers.add(back)
            try:
                back.write(said)
                await asyncio.gather(_pump(reader, back, ways["there"]), _pump(there, writer, ways["back"]))
            finally:
                link.writers.discard(back)
                back.transport.abort()
        except (OSError, RuntimeError):
            pass  # one of the two hung up, or nobody listens; uvloop says RuntimeError of a transport that is closed
        finally:
            link.writers.discard(writer)
            _abort(writer)

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        mine = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not mine]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _until_moving(reader: asyncio.StreamReader, way: Way) -> bytes | None:
    """What was said before the way was free; None if the caller gave up before: on a real network nothing of it ever arrives."""
    said = bytearray()

    async def listen() -> None:
        while data := await reader.read(65536):
            said.extend(data)

    listening, moving = asyncio.ensure_future(listen()), asyncio.ensure_future(way.moving.wait())
    try:
        await asyncio.wait((listening, moving), return_when=asyncio.FIRST_COMPLETED)
        return bytes(said) if way.moving.is_set() and not listening.done() else None
    finally:
        listening.cancel()
        moving.cancel()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
    while data := await reader.read(65536):
        await way.moving.wait()
        if way.delay or way.bytes_per_second:
            await asyncio.sleep(way.delay + (len(data) / way.bytes_per_second if way.bytes_per_second else 0))
        writer.write(data)
        await writer.drain()
    await way.moving.wait()
    writer.close()


def _firewall(*words: str) -> str:
    """What iptables says; nothing, where there is none or we may not use it."""
    program = shutil.which("iptables") or shutil.which("iptables", path="/usr/sbin")
    if program is None:
        return ""
    return subprocess.run([program, "-w", *words], capture_output=True, text=True, check=False).stdout


def _accept_packets(*beginnings: str) -> None:
    """Drop no longer what goes to addresses that begin so; whoever dropped it may be dead."""
    for rule in _firewall("-S", "INPUT").splitlines():
        if any(f" -d {beginning}" in rule for beginning in beginnings):
            _firewall("-D", *rule.split()[1:])


def _abort(writer: asyncio.StreamWriter) -> None:
    """With RST, as a machine answers that knows nothing of the connection."""
    sock = writer.get_extra_info("socket")
    if sock is not None and sock.fileno() >= 0:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _claim_octet() -> tuple[socket.socket, int]:
    """A part of 127.0.0.0/8 that no other cluster on this machine uses; the claim ends with the process."""
    for octet in _in_random_order(range(16, 250)):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0tertulia-cluster-{octet}")
        except OSError:
            claim.close()
            continue
        return claim, octet
    raise RuntimeError("no part of 127.0.0.0/8 is free")


def _in_random_order(numbers: range) -> Iterator[int]:
    yield from random.sample(numbers, len(numbers))
