"""What providers send, as types: bodies, PATCH operations, searches. The library's refusals become ours here."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from pydantic import ValidationError
from scim2_models import Context, Error, PatchOp, Resource, SCIMException, ScimFilter

from tertulia.integrations.scim.answers import ScimRefusal, Selection, selection_of
from tertulia.integrations.scim.schemas import TOLERANT
from tertulia.kernel.json_guard import JsonTrouble, check_json
from tertulia.kernel.threads import Threads

MAX_OPERATIONS = 200
MAX_VALUES = 5000
"""Values of one attribute in one request, and of all operations of a PATCH together."""
MAX_VALUES_OF_PERSON = 100
"""Of all operations of a PATCH together: the library looks at each value that is there for each that it adds."""
MAX_NAMES = 200
"""Of attributes that a client wants, or does not want."""
MAX_PATH_LENGTH = 500
"""With a filter of one value in it; each operation has a path, and parsing one takes the library long."""
MAX_FILTER_LENGTH = 4000
MAX_COUNT = 200
"""Resources on one page."""
MAX_START = 2**31

PARSING = Threads("scim", running=1, waiting=20)
"""Large groups take long to read, and nobody else should wait for that."""

R = TypeVar("R", bound=Resource[Any])


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
        sent = msgspec.convert(_object(body), _SearchBody)
    except msgspec.ValidationError as error:
        raise ScimRefusal(f"This is not a search: {error}", "invalidSyntax") from None
    lists = (",".join(names) if names else None for names in (sent.attributes, sent.excluded_attributes))
    return search_of(sent.filter, sent.start_index, sent.count, *lists)


def written(model: type[R], body: bytes, context: Context) -> R:
    """A resource that a provider sends."""
    with _in_our_words():
        found: R = model.model_validate(_object(body), scim_ctx=context, scim_policy=TOLERANT)
        return found


def patch_in(model: type[R], body: bytes) -> Callable[[R], None]:
    """A PATCH of a person, ready to be applied to a resource. There are few values, so that takes no time."""
    parsed = _patch_of(model, body, MAX_VALUES_OF_PERSON)

    def apply(resource: R) -> None:
        with _in_our_words():
            parsed.patch(resource, scim_policy=TOLERANT)

    return apply


def operations_of(model: type[R], body: bytes) -> list[Any]:
    """The operations of a PATCH of a group, each with `op`, `path` and `value`."""
    return list(_patch_of(model, body, MAX_VALUES).operations)


def _patch_of(model: type[R], body: bytes, most_values: int) -> Any:
    patch: Any = PatchOp.__class_getitem__(model)
    sent = _with_few_operations(_object(body), most_values)
    with _in_our_words():
        return patch.model_validate(sent, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=TOLERANT)


def _with_few_operations(sent: dict[str, Any], most_values: int) -> dict[str, Any]:
    operations = next((value for name, value in sent.items() if name.lower() == "operations"), None)
    if not isinstance(operations, list):
        return sent
    if len(operations) > MAX_OPERATIONS:
        raise ScimRefusal(f"A PATCH has at most {MAX_OPERATIONS} operations.", "tooMany", 413)
    values = 0
    for operation in operations:
        given = operation if isinstance(operation, dict) else {}
        value, path = given.get("value"), given.get("path")
        if isinstance(path, str) and len(path) > MAX_PATH_LENGTH:
            raise ScimRefusal(f"A path has at most {MAX_PATH_LENGTH} characters.", "invalidPath")
        lists = value.values() if isinstance(value, dict) else [value]
        values += sum(len(one) for one in lists if isinstance(one, list))
    if values > most_values:
        raise _too_many_values(most_values)
    return sent


def _check_lists(values: Iterable[Any]) -> None:
    """The library takes its time with each element of a list: 20,000 of them keep a processor busy for seconds."""
    if any(isinstance(value, list) and len(value) > MAX_VALUES for value in values):
        raise _too_many_values(MAX_VALUES)


def _too_many_values(most: int) -> ScimRefusal:
    return ScimRefusal(f"A request has at most {most} values in lists: send more in several requests.", "tooMany", 413)


def filter_in(model: type[R], text: str) -> "ScimFilter[R]":
    """A filter on resources of a kind."""
    if len(text) > MAX_FILTER_LENGTH:
        raise ScimRefusal(f"A filter has at most {MAX_FILTER_LENGTH} characters.", "invalidFilter")
    kind: Any = ScimFilter.__class_getitem__(model)
    with _in_our_words("invalidFilter"):
        found: ScimFilter[R] = kind(text)
        return found


def _object(body: bytes) -> dict[str, Any]:
    try:
        check_json(body)
        sent = msgspec.json.decode(body)
    except JsonTrouble as trouble:
        raise ScimRefusal(f"The body {trouble}.", "invalidSyntax") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ScimRefusal("The body is not valid JSON.", "invalidSyntax") from None
    if not isinstance(sent, dict):
        raise ScimRefusal("The body is not a JSON object.", "invalidSyntax")
    _check_lists(sent.values())
    return sent


@contextmanager
def _in_our_words(otherwise: str = "invalidValue") -> Iterator[None]:
    try:
        yield
    except SCIMException as error:
        raise ScimRefusal(error.detail, error.scim_type or otherwise, error.status) from None
    except ValidationError as error:
        said = Error.from_validation_error(error.errors()[0])
        raise ScimRefusal(
            said.detail or "This is not valid.", said.scim_type or otherwise, said.status or 400
        ) from None
    except RecursionError:
        raise ScimRefusal("This is nested too deeply.", otherwise) from None
