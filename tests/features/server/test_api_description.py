"""The OpenAPI document and the page that shows it, over real HTTP."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from tests.harness.demo_api import Demo, served


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with served(Demo()) as demo:
        yield f"http://127.0.0.1:{demo.port}"


@pytest.fixture(scope="module")
def document(base_url: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(f"{base_url}/api/v1/openapi.json").json()
    return document


def schemas_in(node: Any) -> Iterator[Any]:
    """Every schema of the document: under a key `schema`, or a named component."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "schema":
                yield value
            elif key == "schemas":
                yield from value.values()
            yield from schemas_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from schemas_in(value)


def references_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            else:
                yield from references_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from references_in(value)


def test_every_schema_is_a_schema_and_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = list(schemas_in(document))
    assert len(schemas) > 10
    for schema in schemas:
        Draft202012Validator.check_schema(schema)
    for reference in references_in(document):
        node: Any = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]


def test_the_document_has_the_shape_of_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert document["info"] == {"title": "Demo", "version": "1", "description": "For tests."}
    operations = [op for path in document["paths"].values() for op in path.values()]
    names = [op["operationId"] for op in operations]
    assert len(set(names)) == len(names)
    for path, methods in document["paths"].items():
        for op in methods.values():
            in_path = [param["name"] for param in op["parameters"] if param["in"] == "path"]
            assert all(f"{{{name}}}" in path for name in in_path)
            assert path.count("{") == len(in_path)
            assert {"200", "default"} == op["responses"].keys()


def test_a_form_is_described_with_its_json_fields(document: dict[str, Any]) -> None:
    operation = document["paths"]["/api/v1/messages"]["post"]
    assert operation["operationId"] == "send_message"
    assert operation["summary"] == "Send a message."
    assert operation["description"] == "The text below the first line is the description."
    assert operation["security"] == [{"credentials": []}, {"session": []}]
    form = operation["requestBody"]["content"]["application/x-www-form-urlencoded"]
    assert form["encoding"] == {"to": {"contentType": "application/json"}}
    assert form["schema"]["required"] == ["type", "to", "content"]
    properties = form["schema"]["properties"]
    assert properties["type"] == {"enum": ["channel", "direct"]}
    assert properties["to"] == {"type": "array", "items": {"type": "integer"}}
    assert properties["topic"]["maxLength"] == 60
    assert properties["topic"]["description"] == "Name of the topic. Also accepted as `subject`."


def test_query_parameters_and_optional_authentication_are_described(document: dict[str, Any]) -> None:
    operation = document["paths"]["/api/v1/whoami"]["get"]
    assert operation["security"] == [{}, {"credentials": []}, {"session": []}]
    assert operation["parameters"] == [
        {"name": "full", "in": "query", "required": False, "schema": {"type": "boolean", "default": False}}
    ]
    items = document["paths"]["/api/v1/echo"]["get"]["parameters"][2]
    assert items["content"] == {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}}
    assert document["paths"]["/api/v1/encoded"]["get"]["security"] == []


def test_real_answers_fit_their_description(base_url: str, document: dict[str, Any]) -> None:
    schema = document["paths"]["/api/v1/messages"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    check = Draft202012Validator({**schema, "components": document["components"]})
    form = {"type": "channel", "to": "[9]", "content": "x", "odd": "1"}
    check.validate(httpx.post(f"{base_url}/api/v1/messages", data=form, auth=("ann@example.com", "k")).json())
    refused = Draft202012Validator(document["components"]["schemas"]["Error"])
    refused.validate(httpx.post(f"{base_url}/api/v1/messages").json())


def test_the_page_and_its_assets_come_from_this_server_alone(base_url: str) -> None:
    page = httpx.get(f"{base_url}/api/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for asset, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
        assert f"/api/docs/{asset}" in page.text
        reply = httpx.get(f"{base_url}/api/docs/{asset}")
        assert reply.headers["content-type"].startswith(kind)
        assert "://" not in reply.text
    assert "://" not in page.text
