"""URI templates (RFC 6570) with text values: every operator, the prefix modifier; lists do not occur here."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote


class _Operator(NamedTuple):
    first: str
    separator: str
    is_named: bool
    if_empty: str
    allowed: str


_RESERVED = ":/?#[]@!$&'()*+,;="
_OPERATORS = {
    "": _Operator("", ",", False, "", ""),
    "+": _Operator("", ",", False, "", _RESERVED),
    "#": _Operator("#", ",", False, "", _RESERVED),
    ".": _Operator(".", ".", False, "", ""),
    "/": _Operator("/", "/", False, "", ""),
    ";": _Operator(";", ";", True, "", ""),
    "?": _Operator("?", "&", True, "=", ""),
    "&": _Operator("&", "&", True, "=", ""),
}
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([A-Za-z0-9_.%,:*]+)\}")
_VARIABLE = re.compile(r"([A-Za-z0-9_.%]+)(?::([1-9]\d{0,3})|\*)?")
_LITERAL_ALLOWED = _RESERVED + "%-._~"


def expand(template: str, values: Mapping[str, str]) -> str:
    """The address a template stands for with these values."""
    parts = []
    position = 0
    for expression in _EXPRESSION.finditer(template):
        parts.append(quote(template[position : expression.start()], safe=_LITERAL_ALLOWED))
        parts.append(_expand(_OPERATORS[expression[1]], expression[2].split(","), values))
        position = expression.end()
    parts.append(quote(template[position:], safe=_LITERAL_ALLOWED))
    return "".join(parts)


def variables(template: str) -> frozenset[str]:
    """The names a template uses."""
    return frozenset(
        variable[1]
        for expression in _EXPRESSION.finditer(template)
        for part in expression[2].split(",")
        if (variable := _VARIABLE.fullmatch(part))
    )


def is_template(text: str) -> bool:
    """Whether every brace of the text belongs to a well-formed expression."""
    rest = _EXPRESSION.sub("", text)
    return "{" not in rest and "}" not in rest and all(map(_is_expression, _EXPRESSION.findall(text)))


def _is_expression(expression: tuple[str, str]) -> bool:
    return all(_VARIABLE.fullmatch(part) for part in expression[1].split(","))


def _expand(operator: _Operator, parts: list[str], values: Mapping[str, str]) -> str:
    written = []
    for part in parts:
        variable = _VARIABLE.fullmatch(part)
        if variable is None or variable[1] not in values:
            continue
        value = values[variable[1]]
        if variable[2]:
            value = value[: int(variable[2])]
        text = quote(value, safe=operator.allowed + "-._~")
        if operator.is_named:
            text = f"{variable[1]}={text}" if value else f"{variable[1]}{operator.if_empty}"
        written.append(text)
    return operator.first + operator.separator.join(written) if written else ""
