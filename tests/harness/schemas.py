"""Every event and every state that a test receives is held against the types the server publishes.

The API description of the server under test is fetched once. Whatever its schemas do not name is an error here, though
clients are free to pass over what they do not know: so a key that nobody wrote down does not go out unnoticed.
`SEEN` counts what was checked, by type and op.
"""

from collections import Counter
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

Json = dict[str, Any]
SEEN: Counter[str] = Counter()
_ENVELOPE = {"result", "msg", "ignored_parameters_unsupported"}


class Misshapen(AssertionError):
    """A reply or an event that is not what the server says it sends."""


class Schemas:
    """The schemas of a server, made strict and compiled."""

    def __init__(self, document: Json) -> None:
        self._components = {name: _strict(schema) for name, schema in document["components"]["schemas"].items()}
        self._events: dict[tuple[str, str | None], Any] = {}
        for each in self._components["AnyEvent"]["oneOf"]:
            name = each["$ref"].rpartition("/")[2]
            properties = self._components[name]["properties"]
            for op in properties.get("op", {"enum": [None]})["enum"]:
                self._events[properties["type"]["enum"][0], op] = self._compiled(name)
        self._state = self._compiled("InitialState")

    def check_event(self, event: Json) -> None:
        """Fail with the event if it is not of its type."""
        key = event.get("type", ""), event.get("op")
        SEEN[" ".join(filter(None, key))] += 1
        if key not in self._events:
            raise Misshapen(f"no event has this type and op; the wire.py of the features say which there are: {event}")
        _check(self._events[key], event, f"event {key}")

    def check_state(self, reply: Json) -> None:
        """Fail if an answer of POST /register has a key too many, or one of another type."""
        SEEN["register"] += 1
        _check(self._state, {key: value for key, value in reply.items() if key not in _ENVELOPE}, "state")

    def _compiled(self, name: str) -> Any:
        return jsonschema_rs.Draft202012Validator(
            {"$ref": f"#/components/schemas/{name}", "components": {"schemas": self._components}}
        )


@cache
def schemas_at(url: str) -> Schemas | None:
    """Those of the server at this address; None if it publishes none."""
    reply = httpx.get(f"{url}/api/v1/openapi.json", timeout=30, trust_env=False)
    return Schemas(reply.json()) if reply.status_code == 200 else None


def check_reply(response: httpx.Response) -> None:
    """For clients made with httpx: a hook that looks at states and events."""
    if is_concerned(response):
        response.read()
        _check_body(response)


async def acheck_reply(response: httpx.Response) -> None:
    """As `check_reply`, for asynchronous clients."""
    if is_concerned(response):
        await response.aread()
        _check_body(response)


def is_concerned(response: httpx.Response) -> bool:
    """Whether this is an answer of POST /register or GET /events."""
    asked = response.request.method, response.request.url.path
    return response.status_code == 200 and asked in (("POST", "/api/v1/register"), ("GET", "/api/v1/events"))


def _check_body(response: httpx.Response) -> None:
    url = response.request.url
    schemas = _first_of(f"{url.scheme}://{url.netloc.decode()}")
    if schemas is None:
        return
    body = response.json()
    if url.path.endswith("register"):
        schemas.check_state(body)
    for event in body.get("events", ()):
        schemas.check_event(event)


_found: list[Schemas | None] = []


def _first_of(url: str) -> Schemas | None:
    """All servers of a session are made of the same code: the first one's document serves for all."""
    if not _found:
        _found.append(schemas_at(url))
    return _found[0]


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made


def _check(validator: Any, value: Json, what: str) -> None:
    problems = [f"{'/'.join(map(str, one.instance_path))}: {one.message[:300]}" for one in validator.iter_errors(value)]
    if problems:
        shown = value if what.startswith("event") else ""
        raise Misshapen("\n".join([f"{what} is not what the API description says:", *problems[:10], str(shown)[:3000]]))
