"""Credentials are looked at in one place, which charges for wrong ones.

Whoever asks elsewhere whose a key or a session is makes a way to try them without cost. A new place fails here until it goes
through `Admission`, or has a line with the reason why nothing can be tried there.
"""

import re
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "tertulia"
ASKS = re.compile(r"\.authenticate\(|\bowners_of_keys\(|\bowners_of_sessions\(|\bowner_of_token\(|\bcredentials_of\(")
READS_SESSION = re.compile(r"\bsession_digest\(")

MAY_ASK = {
    "kernel/admission.py": "the one place",
    "kernel/auth.py": "defines what reads the header",
    "people/users/authentication/actions.py": "what Admission asks",
    "people/users/authentication/queries.py": "the statements",
}
MAY_READ_SESSION = {
    "kernel/cookies.py": "defines it",
    "people/users/authentication/actions.py": "what Admission asks",
    "people/avatars/serving.py": "whether there is anything to ask Admission about",
    "notifications/push/routes.py": "of a caller who was admitted by it",
    "people/logins/reauthentication.py": "of a caller who was admitted by it",
    "people/preferences/routes.py": "of a caller who was admitted by it",
    "people/sessions/actions.py": "ends it, and says nothing of whether it was there",
    "people/sessions/routes.py": "in endpoints, which cost the address what a stranger's call costs",
}


def test_nobody_but_admission_asks_whose_credentials_are() -> None:
    assert found(ASKS) == MAY_ASK.keys()


def test_every_reader_of_a_session_is_known() -> None:
    assert found(READS_SESSION) == MAY_READ_SESSION.keys()


def found(pattern: re.Pattern[str]) -> set[str]:
    return {str(file.relative_to(SOURCES)) for file in SOURCES.rglob("*.py") if pattern.search(file.read_text("utf-8"))}
