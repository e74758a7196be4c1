"""New connections are accepted many at a time: while turns of the event loop are long, nobody waits for thousands of them."""

import asyncio
import socket

import uvloop

from tertulia.server.listening import ACCEPTED_AT_ONCE, several_of

CLIENTS = 10 * ACCEPTED_AT_ONCE


async def turns_until_all_are_accepted() -> int:
    accepted: list[asyncio.BaseTransport] = []

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.append(transport)

    loop, turns = asyncio.get_running_loop(), 0
    listener = socket.create_server(("127.0.0.1", 0), backlog=CLIENTS)
    clients = [socket.create_connection(listener.getsockname()) for _ in range(CLIENTS)]
    servers = [await loop.create_server(Accepted, sock=one) for one in several_of([listener])]
    while len(accepted) < CLIENTS:
        await asyncio.sleep(0)
        turns += 1
    for client in clients:
        client.close()
    for server in servers:
        server.close()
    for transport in accepted:
        transport.close()
    await asyncio.sleep(0.01)
    return turns


def test_so_many_connections_are_accepted_in_each_turn() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        turns = runner.run(asyncio.wait_for(turns_until_all_are_accepted(), 30))
    assert turns <= 3 * CLIENTS / ACCEPTED_AT_ONCE
