"""Schemathesis at our own API description: whatever is asked, by whomever, is answered as described, and never by a failure.

    bin/fuzz schemathesis --requests 20000 --seed 5

Each role has an organization of its own, so that what one does to it does not end the others' runs. The first finding of
each operation is shown with the request as a curl command; the data and the logs stay where the last line says.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from tests.clients.environments import programs_of_schemathesis
from tests.fuzz.world import ENDINGS, ROLES, furnish, start
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


class Outcome(NamedTuple):
    """What a run brought: how many requests, the statuses of the answers, and Schemathesis' own words."""

    requests: int
    statuses: dict[str, int]
    is_good: bool
    text: str


class Fuzz:
    """Runs Schemathesis as one role after the other."""

    def __init__(self, server: Server, stage: Stage, folder: Path) -> None:
        self._server = server
        self._stage = stage
        self._folder = folder

    def run(self, roles: Sequence[str], examples: int, seed: int, operations: str = "") -> dict[str, Outcome]:
        """As these roles at once: so many requests to each operation, or to those whose name matches."""
        program = str(programs_of_schemathesis() / "st")
        prepared = {role: self._prepare(role, examples, seed, operations) for role in roles}
        with ThreadPoolExecutor(max(1, len(roles))) as pool:
            done = pool.map(lambda role: self._fuzz(role, [program, *prepared[role][0]], prepared[role][1]), roles)
            return dict(zip(roles, done, strict=True))

    def _fuzz(self, role: str, command: list[str], own: dict[str, str]) -> Outcome:
        counts = self._folder / f"{role}.counts"
        counts.unlink(missing_ok=True)
        own |= {"FUZZ_COUNTS": str(counts)}
        environment = os.environ | own
        done = subprocess.run(command, env=environment, cwd=self._folder, capture_output=True, text=True, check=False)
        statuses = json.loads(counts.read_text()) if counts.exists() else {}
        return Outcome(sum(statuses.values()), statuses, done.returncode == 0, done.stdout + done.stderr)

    def _prepare(self, role: str, examples: int, seed: int, operations: str) -> tuple[list[str], dict[str, str]]:
        """An organization for the role; the arguments of Schemathesis, and its environment."""
        realm = Realm(self._stage)
        speaker, world = furnish(self._stage, realm, role)
        command = ["run", f"{self._server.url}/api/v1/openapi.json"]
        command += [
            "--no-color",
            "--phases",
            "fuzzing",
            "--checks",
            CHECKS,
            "--warnings",
            "off",
            "--continue-on-failure",
        ]
        command += ["--max-examples", str(examples), "--seed", str(seed), "--generation-deterministic"]
        command += ["-H", f"Host: {realm.host}", "--request-timeout", "100", "--suppress-health-check", "all"]
        if operations:
            command += ["--include-operation-id-regex", operations]
        if speaker is not None:
            command += ["--auth", f"{speaker.email}:{speaker.user.api_key}"]
            for name in ENDINGS:
                command += ["--exclude-operation-id", name]
        own = {"SCHEMATHESIS_HOOKS": "fuzz_hooks", "PYTHONPATH": str(Path(__file__).parent / "hooks")}
        return command, own | {"FUZZ_WORLD": json.dumps(world)}


def main() -> None:
    """The long run."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=20_000, help="at least so many in all")
    arguments.add_argument("--examples", type=int, default=20, help="of each operation, role and round")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--roles", nargs="*", default=ROLES, choices=ROLES)
    arguments.add_argument("--operations", default="", help="a regular expression: only operations with such names")
    wanted = arguments.parse_args()
    folder = Path(mkdtemp(prefix="tertulia-fuzz-"))
    server = start(folder)
    backstage = Backstage(server)
    stage = Stage(server, backstage)
    total: Counter[str] = Counter()
    try:
        is_good = _rounds(Fuzz(server, stage, folder), wanted, total)
    finally:
        stage.close()
        backstage.close()
        server.stop()
    print(f"{sum(total.values())} requests: {dict(total)}")
    if not is_good:
        sys.exit(f"Data, logs and reports: {folder}")
    shutil.rmtree(folder, ignore_errors=True)


def _rounds(fuzz: Fuzz, wanted: argparse.Namespace, total: Counter[str]) -> bool:
    """Round after round, each with another seed, until there were enough."""
    is_good, seed = True, wanted.seed
    while sum(total.values()) < wanted.requests:
        before = sum(total.values())
        for role, outcome in fuzz.run(wanted.roles, wanted.examples, seed, wanted.operations).items():
            total.update(outcome.statuses)
            is_good = is_good and outcome.is_good
            print(f"seed {seed}, {role}: {outcome.requests} requests, {outcome.statuses}", flush=True)
            if not outcome.is_good:
                print(findings(outcome.text), flush=True)
        seed += 1
        if sum(total.values()) == before:
            return False
    return is_good


def findings(text: str) -> str:
    """What Schemathesis found, without the list of what it did."""
    found = re.search(r"^=+ (FAILURES|ERRORS) =+$.*", text, re.DOTALL | re.MULTILINE)
    return found.group(0) if found else text[-3000:]


if __name__ == "__main__":
    main()
