"""API keys and sessions end in one place, which tells the requests that wait with one."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tertulia"
HOME = "people/users/authentication/queries.py"
ENDS = re.compile(r"\bdelete\s+from\s+(?:api_key|browser_session)\b", flags=re.IGNORECASE)
OTHERS = {"people/sessions/queries.py": 2}
"""How many more: tickets, which are used up, and sessions that have expired."""


def test_only_one_module_ends_keys_and_sessions() -> None:
    found = {
        str(module.relative_to(SOURCE)): len(ENDS.findall(module.read_text()))
        for module in SOURCE.rglob("*.py")
        if "migrations" not in module.parts
    }
    assert {name: count for name, count in found.items() if count and name != HOME} == OTHERS
    assert found[HOME] == 10


def test_only_the_module_that_tells_of_it_uses_them() -> None:
    uses = re.compile(r"\bdelete_(?:(?:other_|old_)?keys|(?:oldest_)?sessions?|access|provider_(?:keys|sessions))\(")
    users = [
        str(module.relative_to(SOURCE))
        for module in SOURCE.rglob("*.py")
        if uses.search(re.sub(r"\bdef \w+\(", "", module.read_text()))
    ]
    assert users == ["people/users/authentication/revocation.py"]
