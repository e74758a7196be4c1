"""The README and the tutorial do what they say: their commands are run as they stand, against `tertulia dev`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.server import Server

ROOT = Path(__file__).parents[2]
SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.system


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/first-steps.md"])
def test_the_commands_of_the_page_work_as_written(page: str, server: Server, tmp_path: Path) -> None:
    start, *steps = SHELL_BLOCK.findall((ROOT / page).read_text())
    assert start == "bin/setup\n.venv/bin/tertulia dev\n"
    kofi = next(user for user in server.members if user.email == "kofi@example.com")
    script = "\n".join(steps)
    script = script.replace("http://localhost:9991", server.url)
    script = re.sub(r"^PASSWORD=\.\.\..*$", f"PASSWORD={kofi.password}", script, flags=re.MULTILINE)

    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    replies = [json.loads(line) for line in ran.stdout.splitlines()]
    sent = [reply["id"] for reply in replies if "id" in reply]
    heard = [event["message"]["id"] for reply in replies for event in reply.get("events", [])]
    refused = [reply["code"] for reply in replies if reply["result"] == "error"]
    assert heard == sent[:1]
    assert refused == (["STREAM_DOES_NOT_EXIST"] if "first-steps" in page else [])


def test_the_doctor_finds_nothing_wrong_with_a_running_server(server: Server) -> None:
    command = Path(sys.executable).with_name("tertulia")
    engines = {"TERTULIA_POSTGRES_URL": server.postgres_url, "TERTULIA_NATS_URL": server.nats_url}
    ran = subprocess.run(
        [command, "doctor"], env=os.environ | engines, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert "WRONG" not in ran.stdout
