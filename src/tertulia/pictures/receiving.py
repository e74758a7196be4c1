"""A picture as it comes with a request: one file, not a large one, decoded in a thread."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.pictures.fitting import NotAPicture

MAX_MIB = 5
BODY_LIMIT = (MAX_MIB + 1) * 1024 * 1024
_ONE_AT_A_TIME = asyncio.Semaphore(1)
"""Decoding pictures is the dearest thing a request can ask for: it takes at most one core."""

T = TypeVar("T")


def check_file(call: Call) -> None:
    """Refuse anything but one file of a bearable size."""
    if len(call.files) != 1:
        raise Refusal("A picture is exactly one file of a multipart request.")
    if call.files[0].size > MAX_MIB * 1024 * 1024:
        raise Refusal(f"The file is too large (limit: {MAX_MIB} MiB).")


async def receive(call: Call, make: Callable[[bytes], T]) -> T:
    """What is made of the request's picture; refuses what is none."""
    check_file(call)
    try:
        async with _ONE_AT_A_TIME:
            return await asyncio.to_thread(make, call.files[0].file.read())
    except NotAPicture:
        raise Refusal("The file is no picture that can be read.", code="BAD_IMAGE") from None
