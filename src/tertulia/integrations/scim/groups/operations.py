"""What the operations of a PATCH of a group come to (pure)."""

from collections.abc import Iterable, Mapping
from typing import Any

from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator, ValuePath

from tertulia.integrations.scim.answers import ScimRefusal
from tertulia.integrations.scim.groups.rules import GroupEdit, checked_id


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
        edit.external_id = None if op == "remove" else checked_id(value)


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
