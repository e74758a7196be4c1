"""The API description (OpenAPI 3.1), written from the same signatures that serve the requests.

Form fields that hold JSON are described by their real type, with `encoding` saying that they travel as JSON text; the
same schema serves the `application/json` body. An operation is named after its function and tagged with its feature.
"""

import dataclasses
import functools
import operator
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tertulia.kernel.auth import Hook
from tertulia.kernel.endpoint import Endpoint
from tertulia.kernel.params import Param
from tertulia.kernel.reply import JSON, Reply

Json = dict[str, Any]

_SUCCESS: Json = {
    "type": "object",
    "properties": {
        "result": {"const": "success"},
        "msg": {"const": ""},
        "ignored_parameters_unsupported": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Names of sent parameters that this endpoint does not know, sorted.",
        },
    },
    "required": ["result", "msg"],
}
_ERROR: Json = {
    "type": "object",
    "description": "Decide by `code`; `msg` is for people. Some codes bring further keys.",
    "properties": {"result": {"const": "error"}, "msg": {"type": "string"}, "code": {"type": "string"}},
    "required": ["result", "msg", "code"],
}
_CREDENTIALS: Json = {
    "type": "http",
    "scheme": "basic",
    "description": "Email address of the account as user name, API key as password.",
}
_KEY: Json = {
    "type": "apiKey",
    "in": "query",
    "name": "api_key",
    "description": "The API key of a bot, in the address that another service posts to.",
}
_COOKIE: Json = {
    "type": "apiKey",
    "in": "cookie",
    "name": "tertulia_session",
    "description": "A browser's session, from POST /sessions; over https the name begins with `__Host-`. Requests other "
    "than GET also carry the session's token in the header `X-CSRF-Token`.",
}


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the document says beside the endpoints."""

    title: str
    version: str
    description: str = ""
    replies: Mapping[str, Any] = {}
    """Types of answers by the endpoint's name, where the function does not know them."""
    unions: Mapping[type, Sequence[type]] = {}
    """What stands for one of several types: the class that stands for them, and the types."""


def describe_api(endpoints: Iterable[Endpoint], about: About) -> Json:
    """The whole document."""
    listed = [
        dataclasses.replace(endpoint, returns=about.replies.get(endpoint.name, endpoint.returns))
        for endpoint in endpoints
        if endpoint.listed
    ]
    schemas, components = _schemas(listed, about.unions)
    if taken := {"Success", "Error"} & components.keys():
        raise ValueError(f"the API description has its own {sorted(taken)}: call these types something else")
    paths: dict[str, Json] = {}
    names: dict[str, int] = {}
    for endpoint in listed:
        names[endpoint.name] = names.get(endpoint.name, 0) + 1
        operation = _operation(endpoint, schemas)
        if names[endpoint.name] > 1:
            operation["operationId"] += f"_{names[endpoint.name]}"
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": about.title, "version": about.version, "description": about.description},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in sorted({endpoint.feature for endpoint in listed})],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {**components, "Success": _SUCCESS, "Error": _ERROR},
            "responses": {"Refused": {"description": "Refused.", "content": _json_content(_ref("Error"))}},
            "securitySchemes": {"credentials": _CREDENTIALS, "session": _COOKIE, "key": _KEY},
        },
    }


def _schemas(
    endpoints: list[Endpoint], unions: Mapping[type, Sequence[type]]
) -> tuple[dict[int, Json], Mapping[str, Json]]:
    """The schema of every annotation, by the annotation's identity, and the named parts they refer to."""
    wanted: dict[int, Any] = {}
    for endpoint in endpoints:
        for param in endpoint.params:
            if param.wire is None:
                wanted[id(param.annotation)] = param.annotation
        if fields := _fields_of(endpoint.returns):
            wanted[id(endpoint.returns)] = fields
    one_of = [each for members in unions.values() for each in members]
    schemas, components = msgspec.json.schema_components(
        [*wanted.values(), *one_of],
        ref_template="#/components/schemas/{name}",
        schema_hook=lambda kind: _ref(kind.__name__) if kind in unions else {},
    )
    for union, members in unions.items():
        components[union.__name__] = {"oneOf": [_ref(each.__name__) for each in members]}
    return dict(zip(wanted, schemas, strict=False)), components


def _operation(endpoint: Endpoint, schemas: dict[int, Json]) -> Json:
    summary, _, text = endpoint.docs.partition("\n")
    operation: Json = {
        "operationId": endpoint.name,
        "tags": [endpoint.feature],
        "summary": summary,
        "parameters": [_path_parameter(name, kind) for name, kind in endpoint.path_params.items()],
        "responses": {"200": _success(endpoint, schemas), "default": {"$ref": "#/components/responses/Refused"}},
        "security": _security(endpoint),
    }
    if text.strip():
        operation["description"] = text.strip()
    if endpoint.method == "GET" or endpoint.raw_body:
        operation["parameters"] += [_query_parameter(param, schemas) for param in endpoint.params]
    elif endpoint.params:
        operation["requestBody"] = _body(endpoint.params, schemas)
    if endpoint.raw_body:
        operation["requestBody"] = {"required": True, "content": _json_content({})}
    return operation


def _security(endpoint: Endpoint) -> list[Json]:
    caller = endpoint.caller
    if caller is None:
        return []
    if caller.type is Hook:
        return [{"key": []}]
    ways: list[Json] = [{"credentials": []}, {"session": []}]
    return [{}, *ways] if caller.optional else ways


def _path_parameter(name: str, kind: type) -> Json:
    schema: Json = {"type": "integer", "minimum": 0} if kind is int else {"type": "string"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(param: Param, schemas: dict[int, Json]) -> Json:
    schema = _param_schema(param, schemas)
    parameter: Json = {"name": param.name, "in": "query", "required": param.required}
    if description := schema.get("description"):
        parameter["description"] = description
    if _is_json_text(param, schema):
        return {**parameter, "content": _json_content(schema)}
    return {**parameter, "schema": schema}


def _body(params: tuple[Param, ...], schemas: dict[int, Json]) -> Json:
    properties = {param.name: _param_schema(param, schemas) for param in params}
    schema: Json = {"type": "object", "properties": properties}
    if required := [param.name for param in params if param.required]:
        schema["required"] = required
    encoding = {
        param.name: {"contentType": "application/json"}
        for param in params
        if _is_json_text(param, properties[param.name])
    }
    form: Json = {"schema": schema, "encoding": encoding} if encoding else {"schema": schema}
    content = {"application/x-www-form-urlencoded": form, "multipart/form-data": form, **_json_content(schema)}
    return {"required": "required" in schema, "content": content}


def _param_schema(param: Param, schemas: dict[int, Json]) -> Json:
    schema = dict(param.wire.schema if param.wire else schemas[id(param.annotation)])
    if param.aliases:
        also = "Also accepted as " + ", ".join(f"`{name}`" for name in param.aliases) + "."
        schema["description"] = f"{schema['description']} {also}" if "description" in schema else also
    if isinstance(param.default, (bool, int, float, str)):
        schema["default"] = param.default
    return schema


def _is_json_text(param: Param, schema: Json) -> bool:
    """Whether the value needs JSON encoding: a number or a boolean looks the same with and without."""
    return not param.is_text and schema.get("type") not in ("string", "integer", "boolean", "number")


def _success(endpoint: Endpoint, schemas: dict[int, Json]) -> Json:
    if endpoint.media_type != JSON:
        return {"description": "Done.", "content": {endpoint.media_type: {"schema": {"type": "string"}}}}
    schema = _ref("Success")
    if _fields_of(endpoint.returns):
        schema = {"allOf": [schema, schemas[id(endpoint.returns)]]}
    return {"description": "Done.", "content": _json_content(schema)}


def _fields_of(returns: Any) -> Any:
    """What an endpoint says about its answer, or None when it returns bytes, nothing, or a dict of it knows not what."""
    arms = typing.get_args(returns) if typing.get_origin(returns) in (types.UnionType, typing.Union) else (returns,)
    silent = (None, types.NoneType, Reply, msgspec.Raw, dict)
    told = [arm for arm in arms if arm not in silent and typing.get_origin(arm) is not dict]
    return functools.reduce(operator.or_, told) if told else None


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _json_content(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
