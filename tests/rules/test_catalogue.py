"""The types of events and of the state, as they are published."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from tertulia.kernel.openapi import describe_api
from tertulia.server.app import about_api, endpoints_of
from tertulia.server.catalogue import events_of
from tertulia.server.features import FEATURES
from tests.harness.schemas import Misshapen, Schemas

EVENTS = events_of(FEATURES)
SOURCES = Path(__file__).parents[2] / "src" / "tertulia"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return describe_api(endpoints_of(FEATURES), about_api(FEATURES))


def kinds() -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for event in EVENTS:
        hints = get_type_hints(event)
        [type] = get_args(hints["type"])
        found += [(type, op) for op in get_args(hints["op"])] if "op" in hints else [(type, None)]
    return found


def test_a_type_and_an_op_say_which_event_it_is() -> None:
    assert max(Counter(kinds()).values()) == 1


def test_every_type_of_event_that_the_source_emits_is_published() -> None:
    emitted = set()
    for file in SOURCES.rglob("*.py"):
        emitted |= set(re.findall(r'\brecord\([^"]*"([a-z_]+)"', file.read_text()))
    assert len(emitted) > 20
    assert emitted - {"ends"} <= {type for type, _ in kinds()}


def test_the_document_says_what_register_and_events_answer(document: dict[str, Any]) -> None:
    for path, method, name in (("register", "post", "InitialState"), ("events", "get", "Events")):
        reply = document["paths"][f"/api/v1/{path}"][method]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]
        assert {"$ref": f"#/components/schemas/{name}"} in reply["allOf"]
    assert len(document["components"]["schemas"]["AnyEvent"]["oneOf"]) == len(EVENTS)


def test_a_misshapen_event_is_noticed(document: dict[str, Any]) -> None:
    schemas = Schemas(document)
    event: dict[str, Any] = {"id": 3, "type": "alert_words", "alert_words": ["tea"]}
    schemas.check_event(event)
    for wrong in (
        event | {"type": "alert"},
        event | {"alert_words": "tea"},
        event | {"alert_words": [1]},
        event | {"more": 1},
        {"id": 3, "type": "alert_words"},
    ):
        with pytest.raises(Misshapen):
            schemas.check_event(wrong)


def test_a_misshapen_state_is_noticed(document: dict[str, Any]) -> None:
    schemas = Schemas(document)
    state = {"queue_id": None, "service_version": "1", "service_merge_base": "1", "service_feature_level": 421}
    schemas.check_state(state | {"result": "success", "msg": ""})
    more: tuple[dict[str, Any], ...] = ({"user_id": "5"}, {"user_settings": {}}, {"unheard_of": 1})
    for wrong in more:
        with pytest.raises(Misshapen):
            schemas.check_state(state | wrong)
