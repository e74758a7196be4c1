"""The data of a server after its first start, made once and copied: a start from nothing costs a quarter more than any other.

A copy is what `tertulia dev` finds at its second start: the demo people with their keys, and what they said. It is made anew
each day, and when a file of the server is another.
"""

import fcntl
import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tertulia.engines import find_nats_server, find_postgres
from tertulia.engines.find import postgres_version
from tertulia.kernel.settings import load_settings

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".check" / "ready-made"


def copy_ready_made(data: Path, make: Callable[[Path], None]) -> None:
    """Put it there. `make` starts a server from nothing in a folder, and stops it."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # suites begin at the same moment: the first makes it for all
        # Owners stay: as root, PostgreSQL runs as somebody else.
        subprocess.run(["cp", "-a", "--reflink=auto", str(_made(make) / "data"), str(data)], check=True)


def _made(make: Callable[[Path], None]) -> Path:
    programs = find_postgres(load_settings())
    version = f"postgresql-{postgres_version(programs)}"
    made = PLACE / f"{version}-{_fingerprint(programs)}"
    if not made.exists():
        for old in PLACE.glob(f"{version}-*"):
            shutil.rmtree(old)
        attempt = made.with_suffix(".new")
        attempt.mkdir()
        make(attempt)
        # A log tells of one server only.
        shutil.rmtree(attempt / "data" / "logs")
        for log in attempt.glob("data/*/*.log"):
            log.unlink()
        attempt.rename(made)
    return made


def _fingerprint(programs: Path) -> str:
    """Of the day, the programs and every file of the server."""
    nats = find_nats_server(load_settings())
    files = [*ROOT.glob("src/tertulia/**/*.py"), *ROOT.glob("src/tertulia/**/*.sql"), programs / "postgres", nats]
    kept = sorted((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return hashlib.sha256(repr((time.strftime("%F"), kept)).encode()).hexdigest()[:16]
