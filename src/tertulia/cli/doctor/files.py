"""Whether uploaded files can be kept, and looked at by the scanner if there is one."""

import asyncio
import os
import pwd
from pathlib import Path

from tertulia.cli.doctor import Advice
from tertulia.cli.errors import CommandFailed
from tertulia.kernel.settings import Settings


def look_at_files(settings: Settings, *, is_dev: bool) -> str:
    """Write, read and delete one. A folder that is not there yet is not made: it would belong to whoever asks."""
    from tertulia.content.storage import Store

    if not settings.s3_bucket:
        folder = Path(settings.storage_folder)
        if is_dev and not folder.exists():
            return f"folder {folder}, which `tertulia dev` makes with the first upload"
        if not folder.exists():
            return _can_be_made(folder)
        owner = _name(folder.stat().st_uid)
        if os.geteuid() == 0 and owner != "root":
            return f"folder {folder}, of {owner}: run the doctor as {owner} to have it tried"
    return asyncio.run(Store(settings).check())


def _can_be_made(folder: Path) -> str:
    above = next(parent for parent in folder.parents if parent.exists())
    if os.geteuid() == 0:
        raise Advice(
            f"{folder} is not there yet. Make it for the server's account: install -d -m 700 -o ACCOUNT {folder}"
        )
    if not os.access(above, os.W_OK | os.X_OK):
        owner = _name(os.geteuid())
        raise CommandFailed(
            f"{folder} is not there, and {owner} may not make it: as root, install -d -m 700 -o {owner} {folder}"
        )
    return f"folder {folder}, which will be made"


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def look_at_scanner(settings: Settings) -> str:
    """Ask it, if one is set."""
    from tertulia.content.storage import Scanner

    return asyncio.run(Scanner(settings).ping()) if settings.malware_scanner else "none is set"
