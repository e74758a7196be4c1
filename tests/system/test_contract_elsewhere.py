"""bin/contract: the contract tests against a server that runs already, known by its address and an owner's credentials."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.harness.server import Server, User

pytestmark = pytest.mark.system
ROOT = Path(__file__).parents[2]
SOME = "tests/contract/test_alert_words.py"


def contract(server: Server, user: User, secret: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TERTULIA_TEST_OWNER": f"{user.email}:{secret}"}
    command = [str(ROOT / "bin" / "contract"), server.url, "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)


def test_it_runs_again_and_again_with_a_key_or_a_password_and_counts_statements(server: Server) -> None:
    for secret in (server.owner.api_key, server.owner.password):
        run = contract(server, server.owner, secret, SOME)
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
        assert f"{server.url}: of " in run.stdout
        assert " statements 3 hold, 0 do not, " in run.stdout


@pytest.mark.parametrize("problem", ["is not an owner", "knows neither this key nor this password"])
def test_whoever_is_no_owner_is_told_so(server: Server, problem: str) -> None:
    user = server.members[0] if "owner" in problem else server.owner
    run = contract(server, user, user.api_key if "owner" in problem else "wrong", SOME)
    assert (run.returncode, problem in run.stdout + run.stderr) == (2, True), run.stdout[-3000:]
