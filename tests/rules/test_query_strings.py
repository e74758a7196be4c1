"""Fields that strangers send are read by `kernel/urlencoded.py`, which takes so many and no more."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tertulia"
OTHERS = {
    "cli/doctor/secret_files.py": "addresses of engines, which are the operator's",
    "kernel/mail.py": "the address of the mail server, which is the operator's",
    "kernel/engine_addresses.py": "addresses of engines, which are the operator's",
}


def test_nothing_else_reads_fields() -> None:
    found = {
        module.relative_to(SOURCE).as_posix()
        for module in SOURCE.rglob("*.py")
        if re.search(r"\bparse_qsl?\b", module.read_text())
    }
    assert found == OTHERS.keys()
