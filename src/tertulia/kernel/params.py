"""Request parameters: from an annotation to a compiled reader, once per endpoint and never again per request.

A parameter arrives as text (a form field or the query string) or as one value of a JSON object body, kept undecoded as
`msgspec.Raw`. Texts stay texts for strings, string literals and string enumerations; every other type is JSON text.
Values are never coerced. The first fault is reported, as 400 BAD_REQUEST without extra keys.

A parameter that counts in some calls and is ignored in others is declared as `Unread`: the endpoint reads it where it
counts, and elsewhere it may hold anything.
"""

from __future__ import annotations

import enum
import functools
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from tertulia.kernel.errors import Refusal
from tertulia.kernel.faults import say_fault
from tertulia.kernel.json_guard import (
    MAX_INTEGER,
    MAX_TEXT,
    MIN_INTEGER,
    JsonTrouble,
    NumberTooLarge,
    TextTooLong,
    check_json,
    is_storable,
)
from tertulia.kernel.urlencoded import UnfitText

T = TypeVar("T")
Field = str | msgspec.Raw | UnfitText
Fields = Mapping[str, Field]

_MISSING: Any = object()
_decode_any = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode


@dataclass(frozen=True, slots=True, eq=False)
class Wire:
    """Own parser for a parameter, used inside Annotated.

    Compared by identity: Annotated types must be hashable, and a schema is not.

    `parse` gets the raw text, or the decoded value when the request body is JSON. It raises ValueError with the rest
    of a sentence that starts with the parameter's name ("is not a colour"), or a Refusal.
    """

    parse: Callable[[Any], Any]
    schema: Mapping[str, Any]
    any_size: bool = False
    """Whether integers that no column can hold come through: `parse` then answers for them."""


@dataclass(frozen=True, slots=True, eq=False)
class NoSuchId:
    """Mark of a parameter that holds ids, used inside Annotated: one that no column can hold is refused as an unknown one.

    `refuse` gets the decoded value. None: it is as wrong as such a number is anywhere else.
    """

    refuse: Callable[[Any], Refusal | None]


class Verbatim:
    """Used inside Annotated: a text that may hold NUL, because it is handed back and not kept."""


class AnyLength:
    """Used inside Annotated: texts that may have more than MAX_TEXT characters, because nothing but storing is done with them."""


class Unread(Generic[T]):
    """A parameter as it came."""

    __slots__ = ("_param", "_value")

    def __init__(self, param: Param, value: Field | None) -> None:
        self._param = param
        self._value = value

    @property
    def is_sent(self) -> bool:
        """Whether there is anything to read."""
        return self._value is not None

    def read(self) -> T | None:
        """Its value; None if it was not sent. Refuses what it cannot be."""
        value: T | None = None if self._value is None else _read(self._param, self._value)
        return value


@dataclass(frozen=True, slots=True)
class _Alias:
    names: tuple[str, ...]
    default: Any


def alias(*names: str, default: Any = None, required: bool = False) -> Any:
    """Default value of a parameter that is also accepted under other names; sending two of them is refused."""
    return _Alias(names, _MISSING if required else default)


@dataclass(frozen=True, slots=True)
class Param:
    """One request parameter: what documentation needs, and the function that reads it."""

    name: str
    aliases: tuple[str, ...]
    annotation: Any
    required: bool
    default: Any
    is_text: bool
    wire: Wire | None
    from_text: Callable[[str], Any]
    from_json: Callable[[msgspec.Raw], Any]
    is_verbatim: bool = False
    is_unread: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


def compile_param(name: str, annotation: Any, default: Any = _MISSING) -> Param:
    """Build the reader of one parameter. `default` is the signature's default, an alias(), or nothing."""
    aliases: tuple[str, ...] = ()
    if isinstance(default, _Alias):
        aliases, default = default.names, default.default
    is_unread = typing.get_origin(annotation) is Unread
    wanted = _without_none(typing.get_args(annotation)[0] if is_unread else annotation)
    wire = find_mark(wanted, Wire)
    is_verbatim = find_mark(wanted, Verbatim) is not None
    is_text = wire is None and _is_text(wanted)
    if wire is not None:
        from_text, from_json = _wire_readers(name, wire)
    elif is_text:
        from_text, from_json = _text_readers(name, wanted, is_verbatim=is_verbatim)
    else:
        from_text, from_json = _json_readers(name, wanted)
    required = default is _MISSING and not is_unread
    return Param(
        name=name,
        aliases=aliases,
        annotation=wanted,
        required=required,
        default=None if default is _MISSING else default,
        is_text=is_text,
        wire=wire,
        from_text=from_text,
        from_json=from_json,
        is_verbatim=is_verbatim,
        is_unread=is_unread,
    )


def read_params(params: tuple[Param, ...], fields: Fields, into: dict[str, Any]) -> None:
    """Read every declared parameter, in the order of declaration, into keyword arguments."""
    for param in params:
        value = fields.get(param.name)
        if param.aliases:
            value = _choose(param, fields)
        if param.is_unread:
            into[param.name] = Unread(param, None if value is None or _is_null(value) else value)
            continue
        if value is not None:
            value = _read(param, value)
        if value is not None:
            into[param.name] = value
        elif param.required:
            raise Refusal(f"{param.name} is missing")
        else:
            into[param.name] = param.default


def _read(param: Param, value: Field) -> Any:
    if isinstance(value, str):
        return param.from_text(value)
    if isinstance(value, msgspec.Raw):
        return param.from_json(value)
    if param.is_verbatim and value.text is not None:
        return param.from_text(value.text)
    raise Refusal(f"{param.name} {value.fault}")


def _choose(param: Param, fields: Fields) -> Field | None:
    sent = [name for name in param.names if name in fields and not _is_null(fields[name])]
    if len(sent) > 1:
        raise Refusal(
            f"{sent[0]} and {sent[1]} are two names of one parameter, send only one of them",
            code="REQUEST_CONFUSING_VAR",
            var_name1=sent[0],
            var_name2=sent[1],
        )
    return fields[sent[0]] if sent else None


def _is_null(value: Field) -> bool:
    return isinstance(value, msgspec.Raw) and bytes(value) == b"null"


def _json_readers(name: str, wanted: Any) -> tuple[Callable[[str], Any], Callable[[msgspec.Raw], Any]]:
    decode = msgspec.json.Decoder(wanted).decode
    ids = find_mark(wanted, NoSuchId)
    any_length = find_mark(wanted, AnyLength) is not None

    def read(text: str | bytes) -> Any:
        try:
            check_json(text, any_length=any_length)
            return decode(text)
        except NumberTooLarge as trouble:
            unknown = ids.refuse(_decode_any(text)) if ids is not None else None
            raise unknown or Refusal(f"{name} {trouble}") from None
        except msgspec.ValidationError as fault:
            raise Refusal(say_fault(name, str(fault), wanted)) from None
        except JsonTrouble as trouble:
            raise Refusal(f"{name} {trouble}") from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise Refusal(f"{name} is not valid JSON") from None

    def from_text(text: str) -> Any:
        return None if text == "null" else read(text)

    def from_json(raw: msgspec.Raw) -> Any:
        body = bytes(raw)
        return None if body == b"null" else read(body)

    return from_text, from_json


def _text_readers(
    name: str, wanted: Any, *, is_verbatim: bool
) -> tuple[Callable[[str], Any], Callable[[msgspec.Raw], Any]]:
    convert = msgspec.convert
    # msgspec remembers what it knows about a Struct, but looks at any other type anew for every value.
    box: Any = msgspec.defstruct("Box", [("text", wanted)], array_like=True)

    # One with a length of its own says that in its own words.
    most = math.inf if find_mark(wanted, AnyLength) or _has_length(wanted) else MAX_TEXT

    def from_text(text: str) -> Any:
        if len(text) > most:
            raise Refusal(f"{name} {TextTooLong()}")
        if wanted is str:
            return text
        try:
            return convert((text,), box).text
        except msgspec.ValidationError as fault:
            raise Refusal(say_fault(name, str(fault).replace(" - at `$[0]`", ""), wanted)) from None

    def from_json(raw: msgspec.Raw) -> Any:
        body = bytes(raw)
        if body == b"null":
            return None
        try:
            text = _decode_text(body)
        except msgspec.ValidationError as fault:
            raise Refusal(say_fault(name, str(fault), str)) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise Refusal(f"{name} is not valid JSON") from None
        if "\0" in text and not is_verbatim:
            raise Refusal(f"{name} holds a NUL character")
        return from_text(text)

    return from_text, from_json


def _wire_readers(name: str, wire: Wire) -> tuple[Callable[[str], Any], Callable[[msgspec.Raw], Any]]:
    parse = wire.parse

    def read(text: str | None, body: bytes = b"") -> Any:
        try:
            if text is not None and len(text) > MAX_TEXT and text.lstrip()[:1] not in ("[", "{"):
                raise TextTooLong
            return parse(decode_json(body, any_size=wire.any_size) if text is None else text)
        except msgspec.ValidationError as fault:
            raise Refusal(say_fault(name, str(fault), object)) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise Refusal(f"{name} is not valid JSON") from None
        except ValueError as fault:
            raise Refusal(f"{name} {fault}") from None

    def from_text(text: str) -> Any:
        return read(text)

    def from_json(raw: msgspec.Raw) -> Any:
        body = bytes(raw)
        if body == b"null":
            return None
        return read(None, body)

    return from_text, from_json


def decode_json(text: str | bytes, *, any_size: bool = False) -> Any:
    """Decode JSON inside a Wire parser, with the guards that every JSON parameter has."""
    try:
        check_json(text)
    except NumberTooLarge:
        if not any_size:
            raise
    return _decode_any(text)


def fit_path(args: dict[str, Any], marks: Mapping[str, NoSuchId]) -> None:
    """Refuse ids in the path that no column can hold, as their marks say; others become the nearest one, which nothing has."""
    for name, value in args.items():
        if value.__class__ is int and not is_storable(value):
            unknown = marks[name].refuse(value) if name in marks else None
            if unknown is not None:
                raise unknown
            args[name] = max(MIN_INTEGER, min(value, MAX_INTEGER))


def _without_none(annotation: Any) -> Any:
    """`X | None` is an optional X: absence is expressed by not sending it, or by null."""
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        kept = [arm for arm in typing.get_args(annotation) if arm is not types.NoneType]
        return kept[0] if len(kept) == 1 else functools.reduce(operator.or_, kept)
    return annotation


def find_mark(hint: Any, kind: type[T]) -> T | None:
    """The mark of this kind inside Annotated."""
    return next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, kind)), None)


def _has_length(wanted: Any) -> bool:
    return any(isinstance(mark, msgspec.Meta) and mark.max_length for mark in getattr(wanted, "__metadata__", ()))


def _is_text(wanted: Any) -> bool:
    if typing.get_origin(wanted) is typing.Annotated:
        return _is_text(typing.get_args(wanted)[0])
    if isinstance(wanted, typing.NewType):
        return _is_text(wanted.__supertype__)
    if typing.get_origin(wanted) is typing.Literal:
        return all(isinstance(choice, str) for choice in typing.get_args(wanted))
    return isinstance(wanted, type) and (wanted is str or (issubclass(wanted, str) and issubclass(wanted, enum.Enum)))
