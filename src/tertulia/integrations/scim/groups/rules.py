"""Pure decisions about groups: what the operations of a PATCH come to.

The members of a group are not read for it: an operation says whom to add and whom to remove, whoever else is in the group, so a
change costs as much in a large group as in a small one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator, ValuePath

from tertulia.integrations.scim.answers import ScimRefusal
from tertulia.integrations.scim.schemas import WrittenGroup
from tertulia.kernel.text import bad_character

MAX_EXTERNAL_ID_LENGTH = 255


class GroupEdit:
    """What is to become of a group; built up by one operation after the other."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.external_id: str | msgspec.UnsetType | None = msgspec.UNSET
        self.everybody = False
        """Whether `added` are all its members from now on."""
        self.added: set[str] = set()
        self.removed: set[str] = set()

    def add(self, ids: Iterable[str]) -> None:
        """These are members."""
        self.added |= set(ids)
        self.removed -= self.added

    def remove(self, ids: Iterable[str]) -> None:
        """These are not."""
        self.removed |= set(ids)
        self.added -= self.removed

    def replace(self, ids: Iterable[str]) -> None:
        """These are, and nobody else."""
        self.everybody, self.added, self.removed = True, set(ids), set()


def edit_by_put(sent: WrittenGroup) -> GroupEdit:
    """The edit that makes a group as it was sent."""
    edit = GroupEdit()
    edit.name = sent.display_name
    edit.external_id = _checked(sent.external_id)
    edit.replace(member.value for member in sent.members or () if member.value)
    return edit


def edit_by_patch(operations: Iterable[Any]) -> GroupEdit:
    """The edit that the operations of a PATCH come to."""
    edit = GroupEdit()
    for operation in operations:
        op, path, value = str(operation.op.value), operation.path, operation.value
        if path is None:
            for name, part in _object(value).items():
                _apply(edit, op, name.lower(), part)
        elif isinstance(path.ast, ValuePath):
            _apply_to_some(edit, op, path.ast)
        else:
            _apply(edit, op, path.attr.lower(), value)
    return edit


def _apply(edit: GroupEdit, op: str, attribute: str, value: Any) -> None:
    if attribute == "members":
        _apply_to_members(edit, op, value)
    elif attribute == "displayname":
        if op == "remove" or not isinstance(value, str):
            raise ScimRefusal("A group needs a displayName.", "invalidValue")
        edit.name = value
    elif attribute == "externalid":
        edit.external_id = None if op == "remove" else _checked(value)


def _apply_to_members(edit: GroupEdit, op: str, value: Any) -> None:
    if op == "add":
        edit.add(_ids(value))
    elif op == "replace":
        edit.replace(_ids(value))
    elif value is None:
        edit.replace(())
    else:  # as Entra ID says whom to remove
        edit.remove(_ids(value))


def _apply_to_some(edit: GroupEdit, op: str, path: ValuePath) -> None:
    """`members[value eq "7"]`, and several of them with `or`."""
    if path.attr_path.attr.lower() != "members":
        return
    if op != "remove":
        raise ScimRefusal("A member is added or removed, not changed.", "mutability")
    edit.remove(_named(path.val_filter))


def _named(node: FilterNode) -> list[str]:
    if isinstance(node, LogicalExpr) and node.op == LogicalOperator.or_:
        return [id for term in node.terms for id in _named(term)]
    if isinstance(node, Comparison) and node.op == CompareOperator.eq and node.attr_path.attr.lower() == "value":
        return [str(node.value)]
    raise ScimRefusal('Members are named by their value: members[value eq "7"].', "invalidFilter")


def _ids(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    ids = [_object(one).get("value") if isinstance(one, dict) else one for one in listed]
    if not all(isinstance(id, str) for id in ids):
        raise ScimRefusal("A member is an object with the id of a person as value.", "invalidValue")
    return [str(id) for id in ids]


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ScimRefusal("Without a path, the value is an object.", "invalidValue")
    return value


def _checked(external_id: Any) -> str | None:
    if external_id is None:
        return None
    fits = isinstance(external_id, str) and len(external_id) <= MAX_EXTERNAL_ID_LENGTH
    if not fits or bad_character(external_id) is not None:
        raise ScimRefusal(
            f"externalId is a text of at most {MAX_EXTERNAL_ID_LENGTH} visible characters.", "invalidValue"
        )
    return str(external_id)
