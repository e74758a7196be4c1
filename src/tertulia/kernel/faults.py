"""Says in words what msgspec found wrong with a parameter: `to[1] is not an integer`."""

from __future__ import annotations

import enum
import re
import typing
from typing import Any

_expected = {
    "int": "an integer",
    "bool": "a boolean",
    "float": "a number",
    "str": "a string",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_AT = " - at `"
_tail = re.compile(_AT + r"(?:key` in `)?(?P<path>\$.*)`$")
_step = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")
_length = re.compile(r"^Expected `(?P<kind>\w+)` of length (?P<sign>[<>]=)? ?(?P<size>\d+)$")
_bound = re.compile(r"^Expected `(?:int|float)` (?P<sign>[<>]=?) (?P<size>\S+)$")
_type = re.compile(r"^Expected `(?P<wanted>[^`]+)`, got `[^`]+`$")
_field = re.compile(r"^Object (?P<what>missing required|contains unknown) field `(?P<field>[^`]+)`$")


def say_fault(name: str, fault: str, wanted: Any) -> str:
    """Turn the text of a msgspec.ValidationError about parameter `name` into our own."""
    # Found from the end: a fault may quote all that was sent, and a search would begin anew at each place like it.
    start = fault.rfind(_AT)
    tail = _tail.match(fault, start) if start >= 0 else None
    place = name
    if tail:
        fault = fault[: tail.start()]
        place += _place(tail["path"])
    if found := _type.match(fault):
        return f"{place} is not {_say_types(found['wanted'])}"
    if found := _field.match(fault):
        where = f'{place}["{found["field"]}"]'
        return f"{where} is missing" if found["what"].startswith("missing") else f"{where} is not a known field"
    if found := _length.match(fault):
        return f"{place} {_say_length(found['kind'], found['sign'], int(found['size']))}"
    if found := _bound.match(fault):
        word, side = ("small", "minimum") if found["sign"].startswith(">") else ("large", "maximum")
        return f"{place} is too {word} ({side}: {found['size']})"
    if fault.startswith("Invalid enum value"):
        choices = _choices(wanted) if place == name else ()
        return f"{place} is not one of: {', '.join(choices)}" if choices else f"{place} is not an allowed value"
    if "out of range" in fault:
        return f"{place} is too large"
    if "matching regex" in fault:
        return f"{place} does not have the expected format"
    if fault.startswith("Invalid value"):
        return f"{place} is not an allowed value"
    return f"{place}: {fault}"


def _place(path: str) -> str:
    steps = []
    for field, index in _step.findall(path):
        if field:
            steps.append(f'["{field}"]')
        elif index:
            steps.append(f"[{index}]")
    return "".join(steps)


def _say_types(wanted: str) -> str:
    names = [_expected.get(kind, kind) for kind in wanted.split(" | ")]
    return " or ".join(names)


def _say_length(kind: str, sign: str | None, size: int) -> str:
    unit = "characters" if kind == "str" else "items"
    if sign is None:
        return f"does not have exactly {size} {unit}"
    if sign == "<=":
        return f"is too long (limit: {size} {unit})"
    if size == 1:
        return "cannot be blank" if kind == "str" else "cannot be empty"
    return f"is too short (minimum: {size} {unit})"


def _choices(wanted: Any) -> tuple[str, ...]:
    if typing.get_origin(wanted) is typing.Annotated:
        return _choices(typing.get_args(wanted)[0])
    if typing.get_origin(wanted) is typing.Literal:
        return tuple(str(choice) for choice in typing.get_args(wanted))
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        return tuple(str(member.value) for member in wanted)
    return ()
