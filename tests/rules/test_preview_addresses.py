"""Where a link in a message cannot lead the worker: addresses that are refused before anything is sent to them."""

import asyncio
import json
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tertulia.kernel.outbound import Outbound, Unreachable, Unwanted, Wanted
from tertulia.kernel.settings import Settings

REFUSED = [
    # This machine, in all the ways to write it.
    "http://127.0.0.1/", "http://127.0.0.1:5432/", "http://127.1/", "http://127.0.1/", "http://2130706433/",
    "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://017700000001/", "http://127.255.255.254/",
    "http://0.0.0.0/", "http://0/", "http://localhost/", "http://LOCALHOST/", "http://[::1]/", "http://[::]/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/",
    "http://\u2460\u2461\u2466.0.0.1/", "http://127\u30020\u30020\u30021/",
    "http://user:word@127.0.0.1/", "http://example.com@127.0.0.1/", "http://127.0.0.1#@example.com/",
    "https://127.0.0.1/", "HTTP://127.0.0.1/",
    # Networks of somebody's own, links, and the metadata of clouds.
    "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/", "http://172.31.255.254/", "http://192.168.1.1/",
    "http://167772161/", "http://0xa9fea9fe/", "http://169.254.169.254/latest/meta-data/", "http://169.254.170.2/",
    "http://100.100.100.200/", "http://100.64.0.1/", "http://192.0.0.192/", "http://[fd00:ec2::254]/", "http://[fc00::1]/",
    "http://[fe80::1]/", "http://[fec0::1]/", "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    # Ways from new addresses to old ones.
    "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::1]/", "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    # Nobody's and everybody's.
    "http://192.0.2.1/", "http://198.18.0.1/", "http://198.51.100.1/", "http://203.0.113.1/", "http://224.0.0.1/",
    "http://239.255.255.250:1900/", "http://240.0.0.1/", "http://255.255.255.255/", "http://[ff02::1]/",
    "http://[2001:db8::1]/", "http://[100::1]/",
    # Not of the web, or nothing at all.
    "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_INFO", "dict://127.0.0.1:11211/", "unix:///run/x",
    "data:text/html,<title>x</title>", "http://[::1/", "http://127.0.0.1:99999/", "//127.0.0.1/", "http:///",
]  # fmt: skip


async def verdict(url: str, outbound: Outbound) -> str:
    try:
        await outbound.follow(url, {}, Wanted())
    except Unwanted:
        return "refused"
    except Unreachable as error:
        return f"tried: {error}"
    return "answered"


async def verdicts(urls: list[str]) -> dict[str, str]:
    outbound = Outbound(Settings(), seconds=2, networks="")
    return {url: await verdict(url, outbound) for url in urls}


async def test_no_address_that_is_not_public_is_called() -> None:
    assert len(REFUSED) >= 40
    found = await verdicts(REFUSED)
    assert {url: said for url, said in found.items() if said != "refused"} == {}


async def test_no_redirect_leads_there_either() -> None:
    location, asked = "", 0

    async def send_elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    server = await asyncio.start_server(send_elsewhere, "127.0.0.2", 0)
    outbound = Outbound(Settings(), seconds=2, networks="127.0.0.2/32")
    async with server:
        url = f"http://127.0.0.2:{server.sockets[0].getsockname()[1]}/"
        targets = [one for one in REFUSED if one.isascii() and not one.startswith(("//", "http:///"))]
        found = {}
        for location in targets:
            found[location] = await verdict(url, outbound)
    assert {target: said for target, said in found.items() if said != "refused"} == {}
    assert asked == len(targets)


def test_nothing_is_tried_where_there_is_no_network_at_all() -> None:
    """In a network namespace without routes whoever tried would fail otherwise than by being refused."""
    if subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine makes no network namespaces")
    program = (
        "import asyncio, json; from tests.rules.test_preview_addresses import REFUSED, verdicts; "
        "print(json.dumps(asyncio.run(verdicts([*REFUSED, 'http://1.1.1.1/']))))"
    )
    command = ["unshare", "-rn", sys.executable, "-c", program]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, cwd=root)
    found = json.loads(done.stdout)
    assert found.pop("http://1.1.1.1/").startswith("tried")
    assert {url: said for url, said in found.items() if said != "refused"} == {}


async def test_a_name_is_asked_for_once_and_the_address_that_was_looked_at_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, asked = socket.getaddrinfo, Counter[str]()

    def resolve(host: str, port: int, *arguments: Any, **named: Any) -> Any:
        if not host.endswith(".example"):
            return known(host, port, *arguments, **named)
        asked[host] += 1
        # Another address each time: at first one that may be called, and between others that may not.
        addresses = ["10.0.0.1", "127.0.0.2"] if asked[host] == 1 else ["127.0.0.1"]
        return [found for address in addresses for found in known(address, port, *arguments, **named)]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        writer.close()

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    outbound = Outbound(Settings(), seconds=2, networks="127.0.0.2/32")
    async with await asyncio.start_server(answer, "127.0.0.2", 0) as server:
        url = f"http://rebinding.example:{server.sockets[0].getsockname()[1]}/"
        assert await verdict(url, outbound) == "answered"
        assert asked == {"rebinding.example": 1}
        assert await verdict(url, outbound) == "refused"


@pytest.mark.parametrize("host", ["127.0.0.1", "LocalHost", "sub.localhost", "localhost.", "2130706433", "0x7f.1"])
async def test_hosts_that_the_operator_blocked_are_not_called_however_one_gets_there(host: str) -> None:
    outbound = Outbound(Settings(), networks="127.0.0.0/8", blocked="Localhost, .127.0.0.1.")
    with pytest.raises(Unwanted, match="on the list"):
        await outbound.follow(f"http://{host}:1/", {}, Wanted())
    with pytest.raises(Unreachable, match="cannot be reached"):
        await outbound.follow("http://127.0.0.2:1/", {}, Wanted())


async def test_of_a_long_page_the_beginning_is_read() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"x" * 900_000)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        outbound = Outbound(Settings(), networks="127.0.0.1/32")
        found = await outbound.follow(url, {}, Wanted(1000, ("text/plain", "text/html"), is_cut=True))
        assert (found.url, len(found.answer.body)) == (url, 1000)
        with pytest.raises(Unwanted, match="too long"):
            await outbound.follow(url, {}, Wanted(1000, "text/"))
