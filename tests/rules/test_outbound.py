"""Calling servers whose addresses people gave us."""

import asyncio
import ipaddress
import socket
import threading
from typing import Any

import pytest

from tertulia.integrations.outgoing.calls import MAX_OF_ONE_REALM
from tertulia.kernel.outbound import Outbound, Unreachable, Unwanted, Wanted, may_call, networks_of
from tertulia.kernel.settings import Settings, SettingsError

LOCAL = Settings(outgoing_networks="127.0.0.0/8")


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.254",
     "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.255",
     "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "192.175.48.1",
     "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
     "255.255.255.255",
     "::", "::1", "::7f00:1", "::5db8:d70e", "::ffff:0:1.2.3.4", "100::1", "100:0:0:1::1", "1000::1", "4000::1", "5f00::1",
     "8000::1", "fc00::1", "fdff::1", "fe00::1", "fe80::1", "febf::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1",
     "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:30::1",
     "2001:db8::1", "2001:1ff::1", "2002:7f00:1::", "2002:5db8:d70e::1", "2620:4f:8000::1", "3fff::1",
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:192.0.0.8", "::ffff:169.254.169.254",
     "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::c000:8", "64:ff9b:1::5db8:d70e"],
)  # fmt: skip
def test_addresses_that_are_not_public_are_not_called(address: str) -> None:
    assert not may_call(ipaddress.ip_address(address))


def test_public_addresses_are_called_and_networks_that_the_operator_named() -> None:
    for address in ("93.184.215.14", "1.1.1.1", "9.255.255.255", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
                    "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:2800:21f:cb07::1", "2001:200::1",
                    "2001:4860:4860::8888", "2003::1", "2a00::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"):  # fmt: skip
        assert may_call(ipaddress.ip_address(address))
    assert may_call(ipaddress.ip_address("::ffff:10.1.9.9"), networks_of("10.1.0.0/16"))
    assert may_call(ipaddress.ip_address("fd00::9"), networks_of("fd00::/64"))
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


async def get(answer: bytes, wanted: Wanted, networks: str | None = None) -> tuple[bytes, bytes]:
    """What comes of asking a server that says this, and what it was asked."""
    heard = b""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        heard = await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        found = await Outbound(LOCAL, seconds=2, networks=networks).get(f"http://127.0.0.1:{port}/a", {}, wanted)
    return found.body, heard


async def test_of_what_is_asked_for_only_the_wanted_kind_and_size_is_read() -> None:
    picture = b"HTTP/1.1 200 OK\r\nContent-Type: Image/PNG\r\nContent-Length: 600000\r\n\r\n" + b"x" * 600_000
    body, heard = await get(picture, Wanted(600_000, "image/"))
    assert len(body) == 600_000
    assert heard.startswith(b"GET /a HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"content-length" not in heard.lower()
    with pytest.raises(Unwanted, match="too long"):
        await get(picture, Wanted(599_999, "image/"))
    with pytest.raises(Unwanted, match="another type"):
        await get(picture, Wanted(600_000, "text/"))
    for kind in (b"Content-Type: text/html\r\n", b""):
        with pytest.raises(Unwanted, match="another type"):
            await get(b"HTTP/1.1 200 OK\r\n" + kind + b"Content-Length: 2\r\n\r\nhi", Wanted(9, "image/"))
    missing = b"HTTP/1.1 404 None\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"
    assert (await get(missing, Wanted(9, "image/")))[0] == b"hi"
    with pytest.raises(Unwanted, match="not called from here"):
        await get(picture, Wanted(), networks="10.0.0.0/8")


async def test_sr_06_an_answer_that_trickles_has_an_end() -> None:
    is_over = asyncio.Event()

    async def trickle(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        except OSError:
            writer.close()
            is_over.set()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(Unreachable, match="within"):
            await Outbound(LOCAL, seconds=0.3).post(url, b"", {})
        await is_over.wait()


async def test_names_that_nobody_answers_for_hold_up_no_other_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has as many calls under way as one organization may, and begins the next as soon as one is over."""
    answered, calling = threading.Event(), True
    known = socket.getaddrinfo

    def resolve(host: str, *arguments: Any, **named: Any) -> Any:
        if host.endswith(".example"):
            answered.wait(20)
            raise socket.gaierror("nobody answers")
        return known(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    outbound = Outbound(LOCAL, seconds=0.5)

    async def call(number: int) -> None:
        while calling:
            with pytest.raises(Unreachable):
                await outbound.post(f"http://n{number}.example/", b"", {})

    others = [asyncio.create_task(call(number)) for number in range(MAX_OF_ONE_REALM)]
    try:
        await asyncio.sleep(1.2)
        with pytest.raises(Unreachable, match="cannot be reached"):  # and not: no answer in time
            await outbound.post("http://127.0.0.1:1/", b"", {})
    finally:
        calling = False
        answered.set()
        await asyncio.gather(*others)
