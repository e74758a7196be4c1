"""A picture as it comes with a request: one file, not a large one, decoded in a process of its own."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tertulia.content.pictures.fitting import NotAPicture
from tertulia.content.pictures.places import DecodingPlaces
from tertulia.content.storage import Scanner
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import network_of

MAX_MIB = 5
BODY_LIMIT = (MAX_MIB + 1) * 1024 * 1024
MAX_WAITING = 20
_places = DecodingPlaces(MAX_WAITING)

T = TypeVar("T")


def check_file(call: Call) -> None:
    """Refuse anything but one file of a bearable size."""
    if len(call.files) != 1:
        raise Refusal("A picture is exactly one file of a multipart request.")
    if call.files[0].size > MAX_MIB * 1024 * 1024:
        raise Refusal(f"The file is too large (limit: {MAX_MIB} MiB).")


async def receive(call: Call, scanner: Scanner, make: Callable[[bytes], Awaitable[T]]) -> T:
    """What is made of the request's picture; refuses what is none."""
    check_file(call)
    content = call.files[0].file.read()
    await scanner.check(content)
    try:
        async with _places.enter(call.payer or network_of(call.peer) or "unknown"):
            return await make(content)
    except NotAPicture:
        raise Refusal("The file is no picture that can be read.", code="BAD_IMAGE") from None
