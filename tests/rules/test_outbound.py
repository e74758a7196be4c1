"""Calling servers whose addresses people gave us."""

import asyncio
import ipaddress
import socket

import pytest

from tertulia.kernel.outbound import Outbound, Unreachable, may_call, networks_of
from tertulia.kernel.settings import Settings, SettingsError

LOCAL = Settings(outgoing_networks="127.0.0.0/8")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255",
     "224.0.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
     "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1"],
)  # fmt: skip
def test_addresses_that_are_not_public_are_not_called(address: str) -> None:
    assert not may_call(ipaddress.ip_address(address))


def test_public_addresses_are_called_and_networks_that_the_operator_named() -> None:
    for address in ("93.184.215.14", "2606:2800:21f:cb07::1"):
        assert may_call(ipaddress.ip_address(address))
    networks = networks_of("10.1.0.0/16, ::1/128")
    assert [may_call(ipaddress.ip_address(one), networks) for one in ("10.1.9.9", "10.2.0.1", "::1")] == [
        True,
        False,
        True,
    ]
    with pytest.raises(SettingsError):
        networks_of("10.1.0.0/99")


async def serve(answer: bytes, settings: Settings = LOCAL, *, host: str = "127.0.0.1") -> tuple[int, bytes, bytes]:
    """What comes of one call to a server that says this."""
    heard = b""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        heard = await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(4)
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        found = await Outbound(settings, seconds=2).post(f"http://{host}:{port}/a b?c=d", b"body", {"X-A": "1"})
    return found.status, found.body, heard


async def test_an_answer_is_read_in_every_form() -> None:
    status, body, heard = await serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    assert (status, body) == (200, b"hi")
    assert heard.startswith(b"POST /a%20b?c=d HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nX-A: 1\r\n" in heard
    assert heard.endswith(b"\r\n\r\nbody")
    chunked = b"HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    assert (await serve(chunked))[:2] == (201, b"hi")
    assert (await serve(b"HTTP/1.1 200 OK\r\n\r\nto the end"))[:2] == (200, b"to the end")
    assert (await serve(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n"))[:2] == (204, b"")
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"
    assert (await serve(moved))[:2] == (302, b"")


@pytest.mark.parametrize(
    "answer",
    [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
     b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 600_000],
)  # fmt: skip
async def test_what_is_no_answer_is_none(answer: bytes) -> None:
    with pytest.raises(Unreachable):
        await serve(answer)


async def test_names_are_judged_by_the_addresses_they_stand_for() -> None:
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    assert (await serve(ok, host="localhost"))[0] == 200
    for host in ("127.0.0.1", "localhost", "0x7f000001", "2130706433"):
        with pytest.raises(Unreachable, match=r"not called from here|cannot be reached"):
            await serve(ok, Settings(), host=host)


async def test_a_server_that_is_silent_or_away_is_unreachable() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Unreachable, match="within"):
            await Outbound(LOCAL, seconds=0.2).post(f"http://127.0.0.1:{silent.getsockname()[1]}/", b"", {})
        port = silent.getsockname()[1]
    with pytest.raises(Unreachable, match="reached"):
        await Outbound(LOCAL, seconds=2).post(f"http://127.0.0.1:{port}/", b"", {})
    with pytest.raises(Unreachable):
        await Outbound(LOCAL, seconds=2).post("https://no-such-host.invalid/", b"", {})
