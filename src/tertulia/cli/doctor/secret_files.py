"""Whether other accounts of this machine can read, or replace, the files that hold secrets of the server."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from tertulia.cli.container import CONTAINER_SECRETS
from tertulia.cli.doctor import Advice
from tertulia.kernel.urls import split_url

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings


def look_at_sealing(settings: "Settings") -> str:
    """Whether there is a key."""
    from tertulia.kernel.sealing import sealer_of

    if not sealer_of(settings).has_key:
        raise Advice(
            "secrets in the database are not sealed: write what `tertulia secrets new-key` prints into a file,"
            " name it with TERTULIA_SEALING_KEY_FILE, restart, and run `tertulia secrets reseal`"
        )
    return "secrets in the database are sealed"


def look_at_secret_files(config: Path | None, settings: "Settings") -> str:
    """Whether they are for the server alone."""
    found = secret_files(settings, config)
    if faults := [fault for path in found if (fault := fault_of(path)) is not None]:
        raise Advice("; ".join(faults))
    return f"{', '.join(map(str, found))}: not for others" if found else "there are none"


def secret_files(settings: "Settings", config: Path | None) -> list[Path]:
    """Those that are there: the settings, the sealing keys, and private keys for TLS."""
    return [path for path in dict.fromkeys(_named(settings, config)) if path.is_file()]


def _named(settings: "Settings", config: Path | None) -> Iterator[Path]:
    from tertulia.kernel.settings import PREFIX

    if config is not None:
        yield config
    elif named := os.environ.get(PREFIX + "CONFIG"):
        yield Path(named)
    options = dict(parse_qsl(split_url(settings.postgres_url).query))
    for name in (settings.sealing_key_file, settings.nats_key_file, options.get("sslkey", ""), options.get("passfile")):
        if name:
            yield Path(name)


def fault_of(path: Path) -> str | None:
    """Who besides its owner and its group reads it, or besides its owner changes it. A group may read: that of the service; in
    a container everybody, for nobody else is in it."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IWOTH if path.parent == CONTAINER_SECRETS else stat.S_IRWXO):
        return f"every account of this machine can get at {path} (mode {mode:04o}): chmod o= {path}"
    if mode & stat.S_IWGRP:
        return f"a group can change {path} (mode {mode:04o}): chmod g-w {path}"
    return None
