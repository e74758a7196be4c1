"""From a bare Debian to a message through TLS, by the five commands of each of the three pages, as they stand there.

One Debian 12 is made by debootstrap, and each way begins on a copy of it. `bin/soak --install`, `--standalone` and `--container`
do the same by hand, on Debian 13 too; the last one follows the rest of its page as well.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.harness.in_memory import place_for
from tests.system.debian_root import CHECKOUT, GUIDE, STANDALONE_GUIDE, make_base
from tests.system.install_soak import PYTHONS, fetch_packages, new_root, try_commands

pytestmark = [
    pytest.mark.installs,
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another root"),
]
SUITE: Final = "bookworm"
ROOM: Final = 14 * 2**30
"""Bytes that must be free in memory, so that some gigabytes of roots and images leave enough to whatever runs beside."""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Some gigabytes, which nobody wants to look at later."""
    with tempfile.TemporaryDirectory(prefix="tertulia-bare-", dir=place_for(ROOM)) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def base(place: Path) -> Path:
    """TERTULIA_BARE_ROOT: one that is there already, for whoever tries the rest."""
    if given := os.environ.get("TERTULIA_BARE_ROOT"):
        return Path(given)
    make_base(place / "base", SUITE, None, "systemd")
    return place / "base"


@pytest.fixture(scope="module")
def packages(place: Path) -> Path:
    fetch_packages(place / "packages", PYTHONS[SUITE])
    return place / "packages"


@pytest.mark.parametrize("page", [GUIDE, STANDALONE_GUIDE], ids=lambda page: page.stem)
def test_a_page_leads_from_a_bare_debian_to_a_message(page: Path, base: Path, packages: Path, place: Path) -> None:
    assert try_commands(new_root(base, packages, place / page.stem), page) == 0


def test_the_page_of_containers_leads_from_a_bare_debian_to_a_message(base: Path, place: Path) -> None:
    command = [sys.executable, "-m", "tests.system.container_soak", "--brief"]
    where = ["--base", str(base), "--place", str(place / "container")]
    assert subprocess.run([*command, *where], check=False, cwd=CHECKOUT).returncode == 0
