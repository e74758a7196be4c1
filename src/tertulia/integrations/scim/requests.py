"""What providers send: searches here, everything else by `parsing.py`, in a thread.

Its library takes more than a second to load and 30 MB, and most servers have no directory. So the first request that needs it
loads it, in that thread: nobody else waits for it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from tertulia.integrations.scim.answers import Description, ScimRefusal, Selection, selection_of
from tertulia.integrations.scim.columns import Condition
from tertulia.kernel.json_guard import JsonTrouble, check_json
from tertulia.kernel.threads import Threads

if TYPE_CHECKING:
    from tertulia.integrations.scim.groups.rules import GroupEdit
    from tertulia.integrations.scim.schemas import WrittenGroup, WrittenUser
    from tertulia.integrations.scim.users.actions import Patch

MAX_VALUES = 5000
"""Values of one attribute in one request, and of all operations of a PATCH together."""
MAX_NAMES = 200
"""Of attributes that a client wants, or does not want."""
MAX_COUNT = 200
"""Resources on one page."""
MAX_START = 2**31

PARSING = Threads("scim", running=1, waiting=20)
"""Large groups take long to read, and nobody else should wait for that."""


class Search(msgspec.Struct, frozen=True):
    """A question for several resources."""

    filter: str | None
    start_index: int
    count: int
    selection: Selection


def search_of(
    filter: str | None, start_index: int | None, count: int | None, attributes: str | None, excluded: str | None
) -> Search:
    """A search as it stands in an address. What is below the least counts as the least (RFC 7644, section 3.4.2.4)."""
    start = min(max(start_index or 1, 1), MAX_START)
    wanted = MAX_COUNT if count is None else min(max(count, 0), MAX_COUNT)
    return Search(filter or None, start, wanted, selection(attributes, excluded))


def selection(attributes: str | None, excluded: str | None) -> Selection:
    """Which attributes an address asks for."""
    if (attributes or "").count(",") + (excluded or "").count(",") > MAX_NAMES:
        raise ScimRefusal(f"At most {MAX_NAMES} attributes are named.", "tooMany", 413)
    return selection_of((attributes or "").split(","), (excluded or "").split(","))


class _SearchBody(msgspec.Struct, rename="camel"):
    filter: str | None = None
    start_index: int | None = None
    count: int | None = None
    attributes: list[str] | None = None
    excluded_attributes: list[str] | None = None


def search_in(body: bytes) -> Search:
    """A search that was posted."""
    try:
        sent = msgspec.convert(object_in(body), _SearchBody)
    except msgspec.ValidationError as error:
        raise ScimRefusal(f"This is not a search: {error}", "invalidSyntax") from None
    lists = (",".join(names) if names else None for names in (sent.attributes, sent.excluded_attributes))
    return search_of(sent.filter, sent.start_index, sent.count, *lists)


async def description() -> Description:
    """What the service says of itself."""

    def load() -> Description:
        from tertulia.integrations.scim.discovery import DESCRIPTION

        return DESCRIPTION

    return await PARSING.run(load)


async def users_found_by(search: Search) -> Condition:
    """The condition on people that a search asks for."""

    def read(filter: str) -> Condition:
        from tertulia.integrations.scim import parsing

        return parsing.condition_on_users(filter)

    return await PARSING.run(read, search.filter) if search.filter else Condition()


async def groups_found_by(search: Search) -> Condition:
    """The condition on groups that a search asks for."""

    def read(filter: str) -> Condition:
        from tertulia.integrations.scim import parsing

        return parsing.condition_on_groups(filter)

    return await PARSING.run(read, search.filter) if search.filter else Condition()


async def user_in(body: bytes, *, is_new: bool = False) -> "WrittenUser":
    """A person as a provider sends them."""

    def read() -> "WrittenUser":
        from tertulia.integrations.scim import parsing

        return parsing.user_in(body, is_new=is_new)

    return await PARSING.run(read)


async def user_patch_in(body: bytes) -> "Patch":
    """A PATCH of a person, ready to be applied."""

    def read() -> "Patch":
        from tertulia.integrations.scim import parsing

        return parsing.user_patch_in(body)

    return await PARSING.run(read)


async def group_in(body: bytes, *, is_new: bool = False) -> "WrittenGroup":
    """A group as a provider sends it."""

    def read() -> "WrittenGroup":
        from tertulia.integrations.scim import parsing

        return parsing.group_in(body, is_new=is_new)

    return await PARSING.run(read)


async def group_patch_in(body: bytes) -> "GroupEdit":
    """What a PATCH of a group comes to."""

    def read() -> "GroupEdit":
        from tertulia.integrations.scim import parsing

        return parsing.group_patch_in(body)

    return await PARSING.run(read)


def object_in(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is."""
    try:
        check_json(body)
        sent = msgspec.json.decode(body)
    except JsonTrouble as trouble:
        raise ScimRefusal(f"The body {trouble}.", "invalidSyntax") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ScimRefusal("The body is not valid JSON.", "invalidSyntax") from None
    if not isinstance(sent, dict):
        raise ScimRefusal("The body is not a JSON object.", "invalidSyntax")
    check_lists(sent.values())
    return sent


def check_lists(values: Iterable[Any]) -> None:
    """The library takes its time with each element of a list: 20,000 of them keep a processor busy for seconds."""
    if any(isinstance(value, list) and len(value) > MAX_VALUES for value in values):
        raise too_many_values(MAX_VALUES)


def too_many_values(most: int) -> ScimRefusal:
    """What is said to whoever sends more than so many."""
    return ScimRefusal(f"A request has at most {most} values in lists: send more in several requests.", "tooMany", 413)
