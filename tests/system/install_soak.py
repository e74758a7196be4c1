"""From a bare Debian to a message through TLS, by the commands of the guide as they stand: the long form of test_install.py.

    bin/soak --install
    bin/soak --install --suite trixie --mirror http://mirror.example.com/debian
    bin/soak --standalone                           the other page: with engines of its own
    bin/soak --install --base /var/tmp/bookworm     keeps the bare root there, and takes it the next time

Wheels are fetched on this machine, by its own pip, in the pinned versions: only the first command has the machine's network.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.system.debian_root import (
    AUTHORITY,
    CHECKOUT,
    GUIDE,
    OWNER,
    STANDALONE_GUIDE,
    commands_of_guide,
    make_base,
    run_in_folder,
)

PYTHONS: Final = {"bookworm": "3.11", "trixie": "3.13"}
WHEELS: Final = "/var/lib/wheels"
STARTED: Final = "systemctl restart postgresql"
"""What systemd does when the package is installed."""


def main() -> int:
    options = parse()
    with tempfile.TemporaryDirectory(prefix="tertulia-install-", dir=options.folder) as folder:
        base, packages = Path(options.base or f"{folder}/base"), Path(folder) / "packages"
        if not base.exists():
            timed("debootstrap", lambda: make_base(base, options.suite, options.mirror, "systemd"))
        timed("wheels", lambda: fetch_packages(packages, PYTHONS[options.suite]))
        root = new_root(base, packages, Path(folder) / "root")
        return try_commands(root, STANDALONE_GUIDE if options.standalone else GUIDE)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--standalone", action="store_true", help="the page with engines of its own")
    parser.add_argument("--suite", choices=PYTHONS, default="bookworm")
    parser.add_argument("--mirror", help="of Debian; the one of this machine if it is not named")
    parser.add_argument("--base", help="where a bare root is, or is to be made")
    parser.add_argument("--folder", help="where to work, with 3 GB of room; elsewhere than in the usual place for this")
    return parser.parse_args()


def fetch_packages(folder: Path, python: str) -> None:
    """What pip is to find: all that is pinned, and our own wheel."""
    pip = [sys.executable, "-m", "pip", "download", "-qq", "--only-binary", ":all:", "--python-version", python]
    pinned = CHECKOUT / "requirements" / "standalone.txt"
    subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", str(pinned), "--dest", str(folder)], check=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "own")]
    subprocess.run(build, check=True, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def new_root(base: Path, packages: Path, root: Path) -> Path:
    """A copy of the bare one, where root has our wheel and pip the others."""
    subprocess.run(["cp", "--archive", str(base), str(root)], check=True)
    shutil.copytree(packages, root / WHEELS.lstrip("/"), ignore=shutil.ignore_patterns("own"))
    for wheel in (packages / "own").iterdir():
        shutil.copy(wheel, root / "root")
    return root


def try_commands(root: Path, guide: Path) -> int:
    """Each with the seconds it took, and then what the owner does."""
    began = time.monotonic()
    install, *setting_up, init, restart = commands_of_guide(guide)
    meet = f"python3 /usr/local/lib/stand-in/first_message.py $(cat /link) {OWNER} {AUTHORITY}"
    rest = [*([STARTED] if guide == GUIDE else []), *setting_up, f"{init} >/link", restart, meet]
    for steps, has_network in (([install], True), (rest, False)):
        said = run_in_folder(
            root, spoken(steps), {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": WHEELS}, has_network=has_network
        )
        print(said.text)
        if said.code:
            for log in sorted((root / "var" / "log").glob("*.service.log")):
                print(log.name, log.read_text()[-1000:], sep="\n")
            print("FAILED")
            return said.code
    print(f"From a bare root to a message: {time.monotonic() - began:.0f} s")
    return 0


def spoken(steps: list[str]) -> list[str]:
    return ["TIMEFORMAT='   %R s'", "cd /root", *(f"echo {quoted(step)}\ntime {step}" for step in steps)]


def quoted(text: str) -> str:
    return "'$ " + text.replace("'", "'\\''") + "'"


def timed(name: str, work: Callable[[], None]) -> None:
    began = time.monotonic()
    work()
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
