"""Endpoints: a typed function is parser, authorization and documentation of one address.

Positional parameters are injected by their type: a kind of Caller, the Call, a scope such as Transaction, or a service
of the application. Keyword-only parameters are request parameters (see params.py) or parts of the path, matched by
name. Everything that can be worked out is worked out when the module is imported; a mistake fails there.
"""

import inspect
import re
import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, TypeVar

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call, UploadedFile
from tertulia.kernel.params import (
    AnyLength,
    NoSuchId,
    Param,
    Unread,
    Verbatim,
    Wire,
    alias,
    compile_param,
    decode_json,
    find_mark,
)
from tertulia.kernel.reply import JSON, Reply

__all__ = [
    "AnyLength", "Authenticator", "Call", "Endpoint", "Injected", "NoSuchId", "Reply", "Unread", "UploadedFile", "Verbatim",
    "Wire",
    "alias", "collect", "decode_json", "delete", "get", "patch", "post", "put",
]  # fmt: skip

PREFIX = "/api/v1"
Function = TypeVar("Function", bound=Callable[..., Awaitable[Any]])
Kind = TypeVar("Kind", bound=Caller)

_slot = re.compile(r"\{([a-z_]+)\}")


class Authenticator(Protocol):
    """Finds out who calls. Raises a Refusal for wrong credentials, and for missing ones unless `optional`."""

    async def authenticate(self, call: Call, kind: type[Kind], optional: bool) -> Kind | None:
        """The caller, as an instance of `kind`; None only if `optional` and no credentials were sent."""
        ...


@dataclass(frozen=True, slots=True)
class Injected:
    """A positional parameter. `optional` says that it may be None."""

    name: str
    type: type
    optional: bool


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method at one address, and all there is to know about it."""

    name: str
    method: str
    path: str
    function: Callable[..., Awaitable[Any]]
    injected: tuple[Injected, ...]
    path_params: dict[str, type]
    path_ids: dict[str, NoSuchId]
    """Parts of the path that say how an unknown id is refused."""
    params: tuple[Param, ...]
    returns: Any
    docs: str
    feature: str
    """Under which heading the API description has it: its area, if nothing else is said."""
    body_limit: int | None
    """Bytes of a body that brings files, or of a raw one. Parameters have the same limit everywhere (`BodyLimits`)."""
    listed: bool
    limit: str | None = None
    """A kind of call with a rate limit of its own, such as `mail`."""
    raw_body: bool = False
    """Whether the body is no parameters but one whole, in `call.body`; parameters are in the address then."""
    streams: bool = False
    """The function reads the body itself, while it arrives; parameters come from the query only."""
    takes_files: bool = False
    """Whether it looks at `call.files`; elsewhere they are reported as parameters that are not supported."""
    unlimited: bool = False
    """Calls with valid credentials cost nothing."""
    while_frozen: bool = False
    """Whether it may be called while the organization is frozen (kernel/freezing.py). Whatever has the method GET may."""
    waits: bool = False
    """Whether it waits for something to happen: then it does not count as under way (kernel/admission.py)."""
    media_type: str = JSON
    """Of what it answers when it succeeds."""
    about: Mapping[str, str] | None = None
    """Headers of the answer to OPTIONS at this path."""

    @property
    def caller(self) -> Injected | None:
        """The parameter that asks for authentication."""
        return next((wanted for wanted in self.injected if issubclass(wanted.type, Caller)), None)


def get(path: str, **options: Any) -> Callable[[Function], Function]:
    """GET at /api/v1 + path. Options: prefix, body_limit (bytes), listed (in the API description), returns, limit, raw_body,
    streams, takes_files, unlimited, while_frozen, waits, media_type, about, feature (see Endpoint).

    `returns` describes the answer where the function's own return type does not, because it returns encoded bytes.
    """
    return _endpoint("GET", path, **options)


def post(path: str, **options: Any) -> Callable[[Function], Function]:
    """POST at /api/v1 + path; options as for `get`."""
    return _endpoint("POST", path, **options)


def put(path: str, **options: Any) -> Callable[[Function], Function]:
    """PUT at /api/v1 + path; options as for `get`."""
    return _endpoint("PUT", path, **options)


def patch(path: str, **options: Any) -> Callable[[Function], Function]:
    """PATCH at /api/v1 + path; options as for `get`."""
    return _endpoint("PATCH", path, **options)


def delete(path: str, **options: Any) -> Callable[[Function], Function]:
    """DELETE at /api/v1 + path; options as for `get`."""
    return _endpoint("DELETE", path, **options)


def collect(*modules: ModuleType) -> list[Endpoint]:
    """The endpoints that the modules define, in the order of definition."""
    found: list[Endpoint] = []
    for module in modules:
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                found.extend(getattr(value, "__endpoints__", ()))
    return found


def _endpoint(method: str, path: str, *, prefix: str = PREFIX, **options: Any) -> Callable[[Function], Function]:
    def declare(function: Function) -> Function:
        endpoint = describe(function, method, prefix + path, **options)
        declared: list[Endpoint] = [*getattr(function, "__endpoints__", ()), endpoint]
        function.__endpoints__ = declared  # type: ignore[attr-defined]
        return function

    return declare


def describe(
    function: Callable[..., Awaitable[Any]],
    method: str,
    path: str,
    *,
    body_limit: int | None = None,
    listed: bool = True,
    returns: Any = None,
    limit: str | None = None,
    raw_body: bool = False,
    streams: bool = False,
    takes_files: bool = False,
    unlimited: bool = False,
    while_frozen: bool = False,
    waits: bool = False,
    media_type: str = JSON,
    about: Mapping[str, str] | None = None,
    feature: str = "",
) -> Endpoint:
    """Read an endpoint off a function's signature."""
    hints = typing.get_type_hints(function, include_extras=True)
    slots = _slot.findall(path)
    injected, path_params, params = [], {}, []
    path_ids: dict[str, NoSuchId] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in hints:
            raise TypeError(f"{function.__qualname__}: {parameter.name} has no type")
        hint = hints[parameter.name]
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            injected.append(_injected(function, parameter.name, hint))
        elif parameter.name in slots:
            kind = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
            if kind not in (int, str):
                raise TypeError(f"{function.__qualname__}: {parameter.name} is part of the path, so int or str")
            path_params[parameter.name] = kind
            if mark := find_mark(hint, NoSuchId):
                path_ids[parameter.name] = mark
        elif parameter.default is inspect.Parameter.empty:
            params.append(compile_param(parameter.name, hint))
        else:
            params.append(compile_param(parameter.name, hint, parameter.default))
    if missing := set(slots) - set(path_params):
        raise TypeError(f"{function.__qualname__}: no keyword parameter for {sorted(missing)} of the path")
    return Endpoint(
        name=function.__name__,
        method=method,
        path=path,
        function=function,
        injected=tuple(injected),
        path_params=path_params,
        path_ids=path_ids,
        params=tuple(params),
        returns=returns or hints.get("return"),
        docs=inspect.getdoc(function) or "",
        feature=feature or _feature(function.__module__),
        body_limit=body_limit,
        listed=listed,
        limit=limit,
        raw_body=raw_body,
        streams=streams,
        takes_files=takes_files,
        unlimited=unlimited,
        while_frozen=while_frozen or method == "GET",
        waits=waits,
        media_type=media_type,
        about=about,
    )


def _injected(function: Callable[..., Any], name: str, hint: Any) -> Injected:
    arms = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    wanted = [arm for arm in arms if arm is not types.NoneType]
    if len(wanted) != 1 or not isinstance(wanted[0], type):
        raise TypeError(f"{function.__qualname__}: {name} is injected by its type, so it needs exactly one class")
    return Injected(name, wanted[0], len(arms) > len(wanted))


def _feature(module: str) -> str:
    """The area an endpoint belongs to: tertulia.messaging.sending.routes -> messaging."""
    parts = module.split(".")
    return parts[1] if parts[0] == "tertulia" and len(parts) > 2 else parts[0]
