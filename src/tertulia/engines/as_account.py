"""PostgreSQL of a standalone server, run by the account that will run it later, while root sets the server up.

Its folder belongs to that account, which may have put links there: whatever root opened in it could be any file of the machine.
So root starts this module as the account, and nothing in the folder is opened by root. It says the superuser's address when
PostgreSQL is ready, and stops it when standard input ends, as it does if root's process dies.
"""

import os
import subprocess
import sys
from pathlib import Path

from tertulia.engines.account import Account
from tertulia.engines.errors import EngineFailed, EngineMissing
from tertulia.engines.running import Running
from tertulia.engines.standalone import standalone_postgres
from tertulia.kernel.settings import Settings


class PostgresAsAccount(Running):
    """From root's side."""

    url = ""
    """The superuser's, while it runs."""

    def __init__(self, settings: Settings, folder: Path, port: int, account: Account) -> None:
        self._command = [sys.executable, "-m", __name__, settings.postgres_bin, str(folder), str(port)]
        self._account = account
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env={name: value for name, value in os.environ.items() if name not in ("HOME", "TMPDIR")},
            user=self._account.uid,
            group=self._account.gid,
            extra_groups=[],
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            _, said = self._process.communicate()
            raise EngineFailed(said.strip())

    def stop(self) -> None:
        if self._process is not None:
            self._process.communicate()


def main(arguments: list[str]) -> None:
    postgres_bin, folder, port = arguments
    try:
        with standalone_postgres(Settings(postgres_bin=postgres_bin), Path(folder), int(port)) as postgres:
            sys.stdout.write(f"{postgres.url}\n")
            sys.stdout.flush()
            sys.stdin.read()
    except (EngineFailed, EngineMissing) as problem:
        sys.exit(str(problem))
    except OSError as problem:
        sys.exit(f"{problem.filename or folder} cannot be used: {problem.strerror}.")


if __name__ == "__main__":
    main(sys.argv[1:])
