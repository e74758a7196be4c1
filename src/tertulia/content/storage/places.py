"""The two places a store may have, opened from the settings."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from obstore.store import LocalStore, S3Store

from tertulia.kernel.settings import Settings

CONNECT_SECONDS = 5.0
MAX_RETRIES = 4


def open_folder(settings: Settings) -> LocalStore:
    """The folder of the settings, made if need be; nobody else on the machine looks into it."""
    folder = Path(settings.storage_folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return LocalStore(folder)


def open_bucket(settings: Settings) -> S3Store:
    """The bucket of the settings. Without a key of ours, obstore finds the machine's own (role, metadata service)."""
    config: Any = {"region": settings.s3_region}
    if settings.s3_endpoint:
        config["endpoint"] = settings.s3_endpoint
    if settings.s3_access_key_id:
        config |= {"access_key_id": settings.s3_access_key_id, "secret_access_key": settings.s3_secret_access_key}
    if settings.s3_virtual_hosts:
        config["virtual_hosted_style_request"] = True
    patience = timedelta(seconds=settings.s3_seconds)
    options: Any = {
        "allow_http": settings.s3_endpoint.startswith("http://"),
        "connect_timeout": min(patience, timedelta(seconds=CONNECT_SECONDS)),
        "timeout": patience,
    }
    # A service that is silent is not asked again: the first time has taken all there is.
    retries: Any = {"max_retries": MAX_RETRIES, "retry_timeout": patience}
    return S3Store(
        settings.s3_bucket,
        prefix=settings.s3_prefix or None,
        config=config,
        client_options=options,
        retry_config=retries,
    )


async def settle(folder: str, key: str) -> None:
    """Make a file survive a power failure: obstore leaves it to the system when a file reaches the disk."""
    path = Path(folder) / key
    await asyncio.to_thread(_sync, [path, *(parent for parent in path.parents if parent.is_relative_to(folder))])


async def forget_unfinished(folder: str, key: str) -> None:
    """What a process that was killed while it wrote an object has left beside it: obstore writes to `key#1` and renames."""
    await asyncio.to_thread(_unlink_beside, Path(folder) / key)


def _unlink_beside(path: Path) -> None:
    for left in path.parent.glob(f"{path.name}#*"):
        left.unlink(missing_ok=True)


def _sync(paths: list[Path]) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
