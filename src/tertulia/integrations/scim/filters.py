"""Filters as conditions of a statement (RFC 7644, section 3.4.2.2): our columns, their arguments, and nothing a client wrote."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    FilterVisitor,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ValuePath,
)

from tertulia.integrations.scim.answers import ScimRefusal
from tertulia.integrations.scim.columns import FIRST_ARGUMENT, Column, Condition

MAX_TERMS = 100


def condition_of(root: FilterNode, columns: Mapping[str, Column]) -> Condition:
    """A filter as a condition on columns of the realm `$1`."""
    compiler = _Compiler(columns)
    sql = compiler.visit(root)
    return Condition(sql, tuple(compiler.arguments))


_SQL = {
    CompareOperator.eq: "{0} = {1}",
    CompareOperator.ne: "{0} is distinct from {1}",
    CompareOperator.co: "strpos({0}, {1}) > 0",
    CompareOperator.sw: "starts_with({0}, {1})",
    CompareOperator.ew: "right({0}, length({1})) = {1}",
    CompareOperator.gt: "{0} > {1}",
    CompareOperator.ge: "{0} >= {1}",
    CompareOperator.lt: "{0} < {1}",
    CompareOperator.le: "{0} <= {1}",
}
_EQUALITY = (CompareOperator.eq, CompareOperator.ne)
_PARTS = (CompareOperator.co, CompareOperator.sw, CompareOperator.ew)
_CASTS = {"text": "text", "folded": "text", "boolean": "boolean", "time": "timestamptz"}


class _Compiler(FilterVisitor[str]):
    """Every condition it makes is true or false, never null: `not` means what it says."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self.columns = columns
        self.arguments: list[Any] = []
        self.above = ""
        self.terms = 0

    def visit(self, node: FilterNode) -> str:
        self.terms += 1
        if self.terms > MAX_TERMS:
            raise ScimRefusal(f"A filter has at most {MAX_TERMS} terms.", "invalidFilter")
        return super().visit(node)

    def visit_not(self, node: Not) -> str:
        return f"(not {self.visit(node.expr)})"

    def visit_logical_expr(self, node: LogicalExpr) -> str:
        joint = " and " if node.op == LogicalOperator.and_ else " or "
        return "(" + joint.join(self.visit(term) for term in node.terms) + ")"

    def visit_present(self, node: Present) -> str:
        column = self._column(node.attr_path)
        if not column.sql:
            raise ScimRefusal("This attribute is found by eq only.", "invalidFilter")
        empty = f" and {column.sql} <> ''" if column.kind in ("text", "folded") else ""
        return f"({column.sql} is not null{empty})"

    def visit_value_path(self, node: ValuePath) -> str:
        above, self.above = self.above, f"{node.attr_path.attr.lower()}."
        try:
            return self.visit(node.val_filter)
        finally:
            self.above = above

    def visit_comparison(self, node: Comparison) -> str:
        column = self._column(node.attr_path)
        if not column.sql and (node.op != CompareOperator.eq or node.value is None):
            raise ScimRefusal("This attribute is found by eq only.", "invalidFilter")
        if node.value is None:
            absent = f"({column.sql} is null)"
            return absent if node.op == CompareOperator.eq else f"(not {absent})"
        _check_operator(column, node.op)
        value = self._argument(column, node.value)
        if node.op == CompareOperator.eq and column.equals:
            return f"({column.equals.format(value)})"
        return f"coalesce({_SQL[node.op].format(column.sql, value)}, false)"

    def _column(self, path: AttrPath) -> Column:
        name = self.above + path.attr.lower() + (f".{path.sub_attr.lower()}" if path.sub_attr else "")
        found = self.columns.get(name)
        if found is None:
            raise ScimRefusal(f"Nothing is found by {str(path)!r} here.", "invalidFilter")
        return found

    def _argument(self, column: Column, value: Any) -> str:
        self.arguments.append(_fit(column, value))
        return f"${FIRST_ARGUMENT + len(self.arguments) - 1}::{_CASTS[column.kind]}"


def _check_operator(column: Column, operator: CompareOperator) -> None:
    if (column.kind == "boolean" and operator not in _EQUALITY) or (column.kind == "time" and operator in _PARTS):
        raise ScimRefusal(f"The operator {operator} does not fit this attribute.", "invalidFilter")


def _fit(column: Column, value: Any) -> Any:
    if column.kind == "boolean":
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"  # as Entra ID writes it
    elif column.kind == "time":
        return _time(value)
    elif isinstance(value, str) and _is_text(value):
        return value.lower() if column.kind == "folded" else value
    raise ScimRefusal(f"{value!r} does not fit this attribute.", "invalidFilter")


def _is_text(value: str) -> bool:
    """Whether the database can read it: a filter can write half a character, which is none."""
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


def _time(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(str(value))
        # At the ends of the calendar another zone has no such time.
        return found.astimezone(UTC) if found.tzinfo is not None else _no_time(value)
    except (ValueError, OverflowError):
        return _no_time(value)


def _no_time(value: Any) -> NoReturn:
    raise ScimRefusal(f"{value!r} is not a time with its zone.", "invalidFilter")
