"""No administrative act without an entry in the audit log: every endpoint that changes something notes it, or says why not.

What an endpoint comes to is read off its code: the functions that it names, and those that they name. Names are looked up where
Python would; of an attribute of an object only the name is known, so all methods of that name of the services count.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from tertulia.kernel.auth import Administrator
from tertulia.kernel.endpoint import Endpoint
from tertulia.organization.audit_log import Act
from tertulia.people.profiles.values import say_of
from tertulia.people.users.profile import ProfileWriter
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.features.tables.audit_table import ELSEWHERE, NOT_NOTED, NOTED
from tests.rules.test_endpoint_table import key_of

SOURCE = Path(__file__).parents[2] / "src" / "tertulia"
LENT: dict[type, tuple[Any, ...]] = {ProfileWriter: (say_of,)}
"""What services without methods of their own are made of: a lower feature does not name it."""
WRITING = {key_of(endpoint): endpoint for endpoint in endpoints_of(FEATURES) if endpoint.method != "GET"}


def test_every_endpoint_that_changes_something_notes_it_or_says_why_not() -> None:
    missing = sorted(WRITING.keys() - NOTED.keys() - NOT_NOTED.keys())
    assert not missing, f"say in tests/features/tables/audit_table.py what these note, or why they do not: {missing}"
    assert NOTED.keys() | NOT_NOTED.keys() <= WRITING.keys(), "these endpoints are gone"
    assert NOTED.keys().isdisjoint(NOT_NOTED)


def test_what_only_administrators_may_do_is_always_noted() -> None:
    for key in NOT_NOTED:
        caller = WRITING[key].caller
        assert caller is None or not issubclass(caller.type, Administrator), key


@pytest.mark.parametrize("key", sorted(NOTED))
def test_the_code_of_an_endpoint_comes_to_the_acts_of_its_line(key: str) -> None:
    found = acts_of(WRITING[key])
    assert set(NOTED[key]) <= found, f"{key} does not note {sorted(set(NOTED[key]) - found)}"


def test_every_act_is_done_by_somebody() -> None:
    done = {act for acts in NOTED.values() for act in acts} | ELSEWHERE.keys()
    assert set(Act) == done


def test_entries_are_written_in_one_place_and_changed_nowhere() -> None:
    touches = re.compile(r"(insert into|update|delete from|truncate)\s+audit_(entry|detail)", re.I)
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "built" not in path.parts and touches.search(path.read_text())
    }
    assert {path for path in found if not path.startswith("migrations/")} == {"kernel/audit.py"}


def test_the_lint_sees_that_an_endpoint_notes_nothing() -> None:
    assert (
        acts_of(WRITING["POST /messages"]) & {Act.USER_ROLE_CHANGED, Act.CHANNEL_CHANGED, Act.LOGIN_SUCCEEDED} == set()
    )
    assert acts_of(WRITING["POST /drafts"]) == set()


# What code comes to


def acts_of(endpoint: Endpoint) -> set[Act]:
    found: set[Act] = set()
    seen: set[Any] = set()
    waiting: list[Any] = [endpoint.function, *(one for kind in endpoint.injected for one in LENT.get(kind.type, ()))]
    while waiting:
        thing = waiting.pop()
        if thing in seen:
            continue
        seen.add(thing)
        acts, named = _read(thing)
        found |= acts
        waiting += named
    return found


@cache
def _read(thing: Any) -> tuple[frozenset[Act], tuple[Any, ...]]:
    """The acts in the code of a function, or of a class but for its methods, and what else it names of ours."""
    acts: set[Act] = set()
    named: list[Any] = []
    scope = thing.__globals__ if isinstance(thing, FunctionType) else vars(sys.modules[thing.__module__])
    for node in _nodes(thing):
        if isinstance(node, ast.Attribute):
            value = _value(node, scope)
            if isinstance(value, Act):
                acts.add(value)
            elif value is not None:
                named.append(value)
            else:
                named += _methods().get(node.attr, [])
        elif isinstance(node, ast.Name):
            named.append(scope.get(node.id))
    return frozenset(acts), tuple(one for one in named if _is_ours(one))


def _nodes(thing: Any) -> Iterator[ast.AST]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if not isinstance(tree, ast.ClassDef):
        yield from ast.walk(tree)
        return
    for part in tree.body:
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from ast.walk(part)


def _value(node: ast.expr, scope: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, scope), node.attr, None)
    return None


def _is_ours(thing: Any) -> bool:
    is_code = isinstance(thing, (FunctionType, type)) and thing is not Act
    return is_code and str(getattr(thing, "__module__", "")).startswith("tertulia.")


@cache
def _methods() -> dict[str, list[Any]]:
    """Methods of our classes by name: of logins, sessions and their like, whose objects are handed around."""
    found: dict[str, list[Any]] = {}
    for name, module in list(sys.modules.items()):
        if not name.startswith("tertulia.people.logins") and not name.startswith("tertulia.people.users"):
            continue
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == name:
                for method in vars(kind).values():
                    if isinstance(method, FunctionType):
                        found.setdefault(method.__name__, []).append(method)
    return found
