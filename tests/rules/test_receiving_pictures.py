"""Pictures that come with requests are decoded one at a time, and people take turns."""

import asyncio
import io
from typing import Any

from tertulia.content.pictures import receiving
from tertulia.content.storage import Scanner
from tertulia.kernel.call import Call, UploadedFile
from tertulia.kernel.settings import Settings


def sent_by(person: str) -> Call:
    async def receive() -> dict[str, Any]:
        raise AssertionError("everything has arrived")

    call = Call({"headers": [], "client": None}, receive)
    call.payer = person
    call.files.append(UploadedFile("file", "picture.png", "image/png", io.BytesIO(person.encode())))
    return call


async def test_who_sends_many_waits_for_their_own_and_others_come_next() -> None:
    made: list[bytes] = []

    async def make(content: bytes) -> None:
        await asyncio.sleep(0)
        made.append(content)

    people = ["ann", "ann", "ann", "ben"]
    scanner = Scanner(Settings())
    await asyncio.gather(*(receiving.receive(sent_by(person), scanner, make) for person in people))
    assert made == [b"ann", b"ben", b"ann", b"ann"]
