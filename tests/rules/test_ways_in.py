"""Every way in: whatever makes a session or an API key is listed here, with what keeps a second factor from being gone around.

A new way in makes this test fail. Before it gets a line, it needs a test that a person with a factor does not get in by it
without a code (tests/features/people/test_ways_in.py).
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tertulia"
MAKERS = frozenset({
    *("begin_session", "insert_session", "insert_ticket", "make_ticket"),
    *("insert_key", "insert_api_key", "create_api_key", "regenerate_key", "fetch_key"),
})  # fmt: skip
"""What makes a session or a key, and what calls those."""
TABLES = ("insert into api_key", "insert into browser_session")

WAYS = {
    "people/sessions/routes.py::log_in": "POST /sessions: PasswordLogin.log_in asks for the code",
    "people/logins/login.py::fetch_key": "log_in refuses who has a factor: no code is sent along",
    "people/logins/routes.py::fetch_api_key": "see fetch_key; passwords of a directory too",
    "people/logins/routes.py::regenerate_api_key": "by a key one for one; by a session, with the password",
    "people/logins/keys.py::regenerate_key": "see regenerate_api_key",
    "people/logins/keys.py::fetch_key": "the same, after log_in",
    "people/sessions/actions.py::begin_session": "takes a Cleared",
    "people/sessions/actions.py::make_ticket": "for the link of `tertulia dev`, see log_in_by_link",
    "people/sessions/queries.py::insert_session": "the statement of begin_session",
    "people/sessions/queries.py::insert_ticket": "the statement of make_ticket",
    "people/sessions/passkeys/routes.py::log_in_by_passkey": "takes a Cleared: the passkey has verified them",
    "people/sessions/oidc/routes.py::_let_in": "takes a Cleared: the provider is trusted by a setting, or a code was asked for",
    "people/sessions/oidc/routes.py::_to_app": "the mobile flow, takes a Cleared",
    "people/sessions/development_link/routes.py::log_in_by_link": "only in development, and not for who has a factor",
    "conversations/invitations/signup/routes.py::sign_up": "an account that was just made has no factor",
    "conversations/beginnings/routes.py::begin_organization": "the same: the owner of an organization that nobody was in",
    "people/users/actions.py::create_api_key": "see those who call it",
    "people/users/authentication/queries.py::insert_api_key": "the statement of create_api_key",
    "people/bots/actions.py::create_bot": "keys of bots, made by people who are logged in",
    "people/bots/actions.py::regenerate_key": "the same",
    "people/bots/routes.py::regenerate_bot_api_key": "the same",
    "cli/accounts.py::create_key": "the operator",
    "cli/demo.py::_make_user": "the demo organization of the operator",
    "cli/demo.py::make_login_path": "the link of `tertulia dev`",
}


def functions(*words: str) -> Iterator[tuple[str, ast.AST]]:
    """Those in the modules in whose text one of the words is."""
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith("migrations/"):
            continue
        text = path.read_text()
        if not any(word in text for word in words):
            continue
        body = ast.parse(text).body
        nodes = [inner for node in body for inner in (node.body if isinstance(node, ast.ClassDef) else [node])]
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name}::{node.name}", node


def called(node: ast.AST) -> set[str]:
    calls = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return {
        call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
        for call in calls
    }


def texts(node: ast.AST) -> str:
    return " ".join(
        inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )


def test_every_way_in_is_known() -> None:
    found = {
        name
        for name, node in functions(*MAKERS, *(table.rpartition(" ")[2] for table in TABLES))
        if called(node) & MAKERS or any(table in " ".join(texts(node).split()) for table in TABLES)
    }
    assert found == set(WAYS), sorted(found ^ set(WAYS))


def test_nothing_but_the_factors_says_that_somebody_is_cleared() -> None:
    assert {name.partition("::")[0] for name, node in functions("Cleared") if "Cleared" in called(node)} == {
        "people/factors/actions.py"
    }
