"""Requests made from an API description: bytes as they go over the wire.

Each names an operation, so that its answer can be held against what the description says of it. Parameters that name
something usually get a value that exists (`world`), or nearly every request would end at "there is no such thing".
"""

import base64
import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from tests.fuzz.values import Json, Values

METHODS = ("get", "post", "put", "patch", "delete")
BOUNDARY = "a-boundary-of-requests"


class Operation(NamedTuple):
    """One line of the description."""

    name: str
    method: str
    path: str
    parameters: list[Json]
    body: Json
    """The schema of the fields of its body, or an empty one."""


class Request(NamedTuple):
    operation: Operation
    head: bytes
    body: bytes

    def __str__(self) -> str:
        return repr((self.head + self.body)[:6_000])


def operations_of(document: Json) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            if method in METHODS:
                forms = said.get("requestBody", {}).get("content", {})
                body: Json = next((form["schema"] for form in forms.values() if "schema" in form), {})
                yield Operation(said["operationId"], method.upper(), path, said.get("parameters", []), body)


class Requests:
    """Makes requests of one caller."""

    def __init__(
        self,
        random: Random,
        document: Json,
        host: str,
        login: tuple[str, str] | None,
        world: dict[str, list[Any]],
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._random = random
        self._values = Values(random, document["components"]["schemas"])
        self._operations = [one for one in operations_of(document) if one.name not in without]
        self._world = world
        self._host = host
        self._authorization = f"Basic {base64.b64encode(':'.join(login).encode()).decode()}" if login else None

    def make(self) -> Request:
        operation = self._random.choice(self._operations)
        path, query = operation.path, {}
        for parameter in operation.parameters:
            name, place = parameter["name"], parameter["in"]
            schema = parameter.get("schema") or parameter["content"]["application/json"]["schema"]
            if place == "path":
                path = path.replace(f"{{{name}}}", quote(self._written(self._value(name, schema)), safe=""))
            elif place == "query" and self._random.random() < (0.95 if parameter.get("required") else 0.4):
                query[name] = self._value(name, schema)
        fields = {
            name: self._value(name, schema)
            for name, schema in operation.body.get("properties", {}).items()
            if self._random.random() < (0.95 if name in operation.body.get("required", ()) else 0.3)
        }
        if self._random.random() < 0.05:
            fields[self._values.text() or "x"] = self._values.hostile()
        target = f"{path}?{self._urlencoded(query)}" if query else path
        content_type, body = self._body(fields)
        return Request(operation, self._head(operation.method, target, content_type, len(body)), body)

    def with_value(self, operation: Operation, wanted: str, value: Any) -> Request:
        """A request that is as good as can be, but for the value of one parameter."""
        path, query = operation.path, {}
        for parameter in operation.parameters:
            name, place = parameter["name"], parameter["in"]
            schema = parameter.get("schema") or parameter["content"]["application/json"]["schema"]
            sent = value if name == wanted else self._usual(name, schema)
            if place == "path":
                path = path.replace(f"{{{name}}}", quote(_as_text(sent), safe=""))
            elif place == "query" and (name == wanted or parameter.get("required")):
                query[name] = _as_text(sent)
        needed = {wanted, *operation.body.get("required", ())}
        fields = {
            name: value if name == wanted else self._usual(name, schema)
            for name, schema in operation.body.get("properties", {}).items()
            if name in needed
        }
        target = f"{path}?{urlencode(query)}" if query else path
        body = json.dumps(fields, ensure_ascii=False).encode() if fields else b""
        content_type = "application/json" if fields else ""
        return Request(operation, self._head(operation.method, target, content_type, len(body)), body)

    @property
    def operations(self) -> list[Operation]:
        return self._operations

    def _usual(self, name: str, schema: Json) -> Any:
        known = self._world.get(name)
        return known[0] if known else self._values.fitting(schema)

    def _value(self, name: str, schema: Json) -> Any:
        known = self._world.get(name)
        if known and self._random.random() < 0.7:
            return self._random.choice(known)
        return self._values.make(schema)

    def _body(self, fields: Json) -> tuple[str, bytes]:
        """The fields in one of the forms that every endpoint takes, seldom in a broken one."""
        if not fields:
            return "", b""
        kind = self._random.random()
        if kind < 0.55:
            return "application/x-www-form-urlencoded", self._broken(self._urlencoded(fields).encode())
        if kind < 0.8:
            return "application/json", self._broken(json.dumps(fields).encode())
        parts = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{quote(name)}"\r\n\r\n{self._written(value)}\r\n'
            for name, value in fields.items()
        )
        body = f"{parts}--{BOUNDARY}--\r\n".encode("utf-8", "surrogatepass")
        return f"multipart/form-data; boundary={BOUNDARY}", self._broken(body)

    def _broken(self, body: bytes) -> bytes:
        """Two of a hundred are cut off or have a byte changed."""
        chance = self._random.random()
        if chance < 0.01:
            return body[: self._random.randrange(len(body))]
        if chance < 0.02:
            at = self._random.randrange(len(body))
            return body[:at] + bytes([self._random.randrange(256)]) + body[at + 1 :]
        return body

    def _urlencoded(self, fields: Json) -> str:
        return urlencode({name: self._written(value) for name, value in fields.items()}, errors="surrogatepass")

    def _written(self, value: Any) -> str:
        """Texts as they are, everything else as JSON; a text that stands for JSON may be quoted or not."""
        if isinstance(value, str):
            return json.dumps(value) if self._random.random() < 0.1 else value
        return json.dumps(value)

    def _head(self, method: str, target: str, content_type: str, length: int) -> bytes:
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._host}", "User-Agent: TertuliaFuzz/1"]
        if self._authorization:
            lines.append(f"Authorization: {self._authorization}")
        if content_type:
            lines += [f"Content-Type: {content_type}", f"Content-Length: {length}"]
        elif method != "GET":
            lines.append("Content-Length: 0")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
