"""Every module that opens a connection is known, with whose address it calls (docs/reference/advisories.md, class SR).

Addresses that people give are called by `kernel/outbound.py` alone, which looks at where they lead. The others call what the
operator wrote into the settings. A new one makes this fail: let it use `Outbound`, or say here whose address it is.
"""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tertulia"
OPENS = re.compile(
    r"^\s*(?:import|from) (?:socket|smtplib|ftplib|http\.client|urllib\.request|urllib3|requests|httpx2?|aiohttp|obstore|ldap3"
    r"|authlib|websockets|paramiko|opentelemetry\.exporter)\b|open_connection\(|create_connection\(|open_unix_connection\(",
    flags=re.MULTILINE,
)
OF_PEOPLE = {"kernel/outbound.py"}
OF_THE_OPERATOR = {
    "kernel/mail.py": "the mail server",
    "kernel/postgres.py": "the database",
    "kernel/tracing.py": "the collector of traces",
    "content/storage/places.py": "the bucket",
    "content/storage/scanning.py": "the malware scanner",
    "content/storage/store.py": "the bucket",
    "server/listening.py": "nobody: it listens where the settings say",
    "people/logins/directory.py": "the directory",
    "people/sessions/oidc/provider.py": "the provider, over https; the addresses that it describes are checked there",
}
OF_THIS_MACHINE = {"cli/", "engines/"}


def test_sr_03_every_call_that_leaves_the_process_is_known() -> None:
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if OPENS.search(path.read_text())}
    local = {path for path in found if any(path.startswith(area) for area in OF_THIS_MACHINE)}
    assert found - local - OF_THE_OPERATOR.keys() == OF_PEOPLE
    assert OF_THE_OPERATOR.keys() <= found, "these are gone"


def test_sr_08_what_other_services_post_makes_us_call_nobody() -> None:
    incoming = [path.read_text() for path in (SOURCE / "integrations" / "incoming").rglob("*.py")]
    assert len(incoming) > 10
    assert not [text for text in incoming if "outbound" in text.lower()]
