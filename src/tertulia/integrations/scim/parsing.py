"""Bodies, PATCH operations and filters as types. The library's refusals become ours here.

It is loaded by the first request that needs it (`requests.py`): nothing else may import it when the server starts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import ValidationError
from scim2_models import Context, Error, PatchOp, Resource, SCIMException, ScimFilter

from tertulia.integrations.scim.answers import ScimRefusal
from tertulia.integrations.scim.columns import Condition
from tertulia.integrations.scim.filters import condition_of
from tertulia.integrations.scim.groups import queries as groups
from tertulia.integrations.scim.groups.operations import edit_by_patch
from tertulia.integrations.scim.groups.rules import GroupEdit
from tertulia.integrations.scim.requests import MAX_VALUES, object_in, too_many_values
from tertulia.integrations.scim.schemas import TOLERANT, Group, Name, User, WrittenEmail, WrittenGroup, WrittenUser
from tertulia.integrations.scim.users import queries as users
from tertulia.integrations.scim.users.actions import Patch
from tertulia.integrations.scim.users.queries import UserRow
from tertulia.integrations.scim.users.rules import WORK

MAX_OPERATIONS = 200
MAX_VALUES_OF_PERSON = 100
"""Of all operations of a PATCH together: the library looks at each value that is there for each that it adds."""
MAX_LOOKS = 2_500
"""Whatever a PATCH of a person writes, the library copies and compares all values that are there, and it is applied while nobody
else is answered: with 99 addresses and 199 operations that was 3 s. A provider changes some thirty attributes, and few lists."""
MAX_FILTERS_LENGTH = 2_000
"""In the paths of a PATCH of a person, together: each comparison is made with each value. With 24 in each path it was 9 s."""
MAX_PATH_LENGTH = 500
"""With a filter of one value in it; each operation has a path, and parsing one takes the library long."""
MAX_WRITTEN_NAMES = 200
"""Of attributes in the values of all operations of a PATCH together: the library takes each for a path, and looks for it in
the whole model. What is applied to a person is looked at a second time, while nobody else is answered."""
MAX_NAME_LENGTH = 200
MAX_FILTER_LENGTH = 4000

R = TypeVar("R", bound=Resource[Any])


def condition_on_users(filter: str) -> Condition:
    """Whom a filter finds."""
    return condition_of(_filter_in(User, filter).ast, users.COLUMNS)


def condition_on_groups(filter: str) -> Condition:
    """Which groups a filter finds."""
    return condition_of(_filter_in(Group, filter).ast, groups.COLUMNS)


def user_in(body: bytes, *, is_new: bool) -> WrittenUser:
    """A person as a provider sends them."""
    return _written(WrittenUser, body, is_new=is_new)


def group_in(body: bytes, *, is_new: bool) -> WrittenGroup:
    """A group as a provider sends it."""
    return _written(WrittenGroup, body, is_new=is_new)


def user_patch_in(body: bytes) -> Patch:
    """A PATCH of a person, ready to be applied. There are few values, so that takes no time."""
    sent = object_in(body)
    operations = _check_operations(sent, MAX_VALUES_OF_PERSON)
    _check_looks(operations)
    parsed = _patch_of(WrittenUser, sent)

    def apply(now: UserRow) -> tuple[WrittenUser, WrittenUser]:
        changed = _resource_of(now)
        with _in_our_words():
            parsed.patch(changed, scim_policy=TOLERANT)
        return _resource_of(now), changed

    return apply


def group_patch_in(body: bytes) -> GroupEdit:
    """What a PATCH of a group comes to."""
    sent = object_in(body)
    _check_operations(sent, MAX_VALUES)
    return edit_by_patch(_patch_of(WrittenGroup, sent).operations)


def _resource_of(now: UserRow) -> WrittenUser:
    return WrittenUser(
        id=str(now.id),
        external_id=now.external_id,
        user_name=now.user_name,
        display_name=now.full_name,
        name=Name(formatted=now.formatted_name, given_name=now.given_name, family_name=now.family_name),
        emails=[WrittenEmail(value=now.email, type=WORK, primary=True)],
        active=now.is_active,
    )


def _written(model: type[R], body: bytes, *, is_new: bool) -> R:
    context = Context.RESOURCE_CREATION_REQUEST if is_new else Context.RESOURCE_REPLACEMENT_REQUEST
    with _in_our_words():
        found: R = model.model_validate(object_in(body), scim_ctx=context, scim_policy=TOLERANT)
        return found


def _patch_of(model: type[R], sent: dict[str, Any]) -> Any:
    patch: Any = PatchOp.__class_getitem__(model)
    with _in_our_words():
        return patch.model_validate(sent, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=TOLERANT)


def _check_operations(sent: dict[str, Any], most_values: int) -> list[dict[str, Any]]:
    """The operations of a PATCH, if there are few, and they write little."""
    listed = [one for several in _called(sent, "operations") if isinstance(several, list) for one in several]
    if len(listed) > MAX_OPERATIONS:
        raise ScimRefusal(f"A PATCH has at most {MAX_OPERATIONS} operations.", "tooMany", 413)
    operations = [one for one in listed if isinstance(one, dict)]
    written = [one for operation in operations for one in _written_in(operation)]
    if sum(len(one) for one in written if isinstance(one, list)) > most_values:
        raise too_many_values(most_values)
    names = [name for one in written if isinstance(one, dict) for name in one]
    if len(names) > MAX_WRITTEN_NAMES:
        raise ScimRefusal(f"A PATCH names at most {MAX_WRITTEN_NAMES} attributes.", "tooMany", 413)
    if any(len(name) > MAX_NAME_LENGTH for name in names):
        raise ScimRefusal(f"The name of an attribute has at most {MAX_NAME_LENGTH} characters.", "invalidPath")
    return operations


def _check_looks(operations: list[dict[str, Any]]) -> None:
    """Refuse what the library would take long to apply. An object, or a path with a filter, may be one more value in a list."""
    written = [one for operation in operations for one in _written_in(operation)]
    paths = [path for operation in operations for path in _called(operation, "path") if isinstance(path, str)]
    filtered = [path for path in paths if "[" in path]
    writes = len(operations) + sum(len(one) for one in written if isinstance(one, dict))
    values = 1 + sum(len(one) if isinstance(one, list) else 1 for one in written) + len(filtered)
    if writes * values > MAX_LOOKS or sum(map(len, filtered)) > MAX_FILTERS_LENGTH:
        raise ScimRefusal("That is too much at once: send fewer operations, or fewer values in lists.", "tooMany", 413)


def _written_in(operation: dict[str, Any]) -> Iterator[list[Any] | dict[str, Any]]:
    """The lists and objects that an operation writes: its value, and what stands in that. In lists, names cost nothing."""
    if any(isinstance(path, str) and len(path) > MAX_PATH_LENGTH for path in _called(operation, "path")):
        raise ScimRefusal(f"A path has at most {MAX_PATH_LENGTH} characters.", "invalidPath")
    waiting = _called(operation, "value")
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | dict):
            yield value
        if isinstance(value, dict):
            waiting += value.values()


def _called(sent: dict[str, Any], name: str) -> list[Any]:
    """What is said under that name, however it is spelled: to the library case makes no difference, and the last one counts."""
    return [value for key, value in sent.items() if key.lower() == name]


def _filter_in(model: type[R], text: str) -> "ScimFilter[R]":
    if len(text) > MAX_FILTER_LENGTH:
        raise ScimRefusal(f"A filter has at most {MAX_FILTER_LENGTH} characters.", "invalidFilter")
    kind: Any = ScimFilter.__class_getitem__(model)
    with _in_our_words("invalidFilter"):
        found: ScimFilter[R] = kind(text)
        return found


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
