"""The web client's types of events and of the initial state are those that the server publishes."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def web_types() -> ModuleType:
    spec = importlib.util.spec_from_file_location("web_types", ROOT / "docs" / "web_types.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_the_web_client_are_current(web_types: ModuleType) -> None:
    target = web_types.TARGET
    assert target.read_text() == web_types.typescript(), f"{target.name} is old: run npm run api in web/"


@pytest.mark.parametrize(
    ("schema", "type"),
    [
        ({"type": "integer", "minimum": 0}, "number"),
        ({"enum": ["add", "remove"]}, "'add' | 'remove'"),
        ({"enum": [1, 2]}, "1 | 2"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "(number | null)[]"),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            "[string, number]",
        ),
        ({"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Step"}}, "Record<string, Step>"),
        ({}, "unknown"),
    ],
)
def test_a_schema_becomes_a_type(web_types: ModuleType, schema: dict[str, Any], type: str) -> None:
    assert web_types.type_of(schema) == type


def test_a_schema_that_says_more_than_is_understood_is_refused(web_types: ModuleType) -> None:
    for schema in ({"not": {"type": "string"}}, {"type": "binary"}):
        with pytest.raises(ValueError, match="no type"):
            web_types.type_of(schema)
