"""What a process loads when it starts: a library that few requests need is loaded by the first of them, not by everybody."""

import subprocess
import sys

import pytest

FOR_FEW = {
    "scim2_models": "an organization with a directory",
    "pydantic": "the same",
    "lark": "the same",
    "webauthn": "somebody with a passkey",
    "OpenSSL": "the same",
    "pyasn1_modules": "the same",
    "alembic": "a migration",
    "PIL": "a picture",
    "rich": "a command, for somebody at a terminal",
}
"""And who needs it."""
BEGUN = "from tertulia.cli.processes import begin\nbegin(None, 'test')\n"
PROCESSES = {
    "web": ("tertulia.kernel.form", "tertulia.server.web"),
    "worker": ("tertulia.kernel.form", "tertulia.server.worker"),
    "relay": ("tertulia.kernel.form", "tertulia.events.relay.process"),
}


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_starts_without_the_libraries_that_few_requests_need(process: str) -> None:
    assert _loaded(*PROCESSES[process], before=BEGUN) & FOR_FEW.keys() == set()


def test_the_list_of_commands_needs_neither_engines_nor_logs() -> None:
    assert _loaded("tertulia.cli.commands") & {"asyncpg", "nats", "sqlalchemy", "structlog", "cryptography"} == set()


def _loaded(*modules: str, before: str = "") -> set[str]:
    """The names of the packages that come with these modules."""
    program = (
        before + "import sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, *modules], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}
