"""Which database an administrative command works on: the configured one, or that of a running `tertulia dev`."""

import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.folder import DevFolder, default_folder, find_state
from tertulia.kernel.settings import PREFIX, Settings, load_settings
from tertulia.kernel.urls import split_url
from tertulia.kernel.variables import unknown_variables

DataFolder = Annotated[
    Path | None, typer.Option("--data", help="The data folder of a running `tertulia dev`, if it is not the default.")
]


USUAL_FILE: Final = Path("/etc/tertulia/tertulia.toml")
"""Where `tertulia init` writes the settings."""


def target_settings(data: Path | None, *, needs_server: bool = True) -> Settings:
    """`--data` wins; then TERTULIA_POSTGRES_URL or a settings file; then a `tertulia dev` that runs in its default folder; then
    the settings at their usual place.

    Without `needs_server` nothing has to run: what is asked concerns no database."""
    if data is None and (not needs_server or is_named() or (find_state(default_folder()) is None and has_usual_file())):
        return configured_settings()
    return dev_settings(data, otherwise=", or set TERTULIA_POSTGRES_URL")


def configured_settings(config: Path | None = None) -> Settings:
    """Of the file and the environment. A variable that is misspelt has no effect, which is told."""
    _tell_unknown_variables()
    return load_settings(settings_file(config))


def named_settings() -> Settings:
    """The same without the usual file: `tertulia dev` has nothing to do with the server of this machine."""
    _tell_unknown_variables()
    return load_settings()


def settings_file(config: Path | None = None) -> Path | None:
    """Which one is read: the one that is named, or, if nothing says which server is meant, the one at the usual place."""
    if config is not None:
        return config
    if named := os.environ.get(PREFIX + "CONFIG"):
        return Path(named)
    return USUAL_FILE if not is_named() and has_usual_file() else None


def is_named() -> bool:
    """Whether the environment says which server is meant."""
    return any(os.environ.get(PREFIX + name) for name in ("POSTGRES_URL", "CONFIG"))


def has_usual_file() -> bool:
    """Also if it is closed to us: reading it says so then, which is better than to go on with no settings at all."""
    try:
        return USUAL_FILE.is_file()
    except PermissionError:
        return True


@cache
def _tell_unknown_variables() -> None:
    """Once, however often a command looks at its settings."""
    for told in unknown_variables():
        print(f"tertulia: {told}", file=sys.stderr)


def dev_settings(data: Path | None, otherwise: str = "") -> Settings:
    """Of a running `tertulia dev`, whatever else is configured."""
    settings = named_settings()
    folder = data or default_folder()
    state = find_state(folder)
    if state is None:
        raise CommandFailed(f"No `tertulia dev` runs in {folder}. Start it, or name its folder with --data{otherwise}.")
    own = DevFolder(folder.expanduser().absolute())
    return msgspec.structs.replace(
        settings,
        postgres_url=state.postgres_url,
        nats_url=state.nats_url,
        external_host=split_url(state.url).netloc,
        storage_folder=str(own.files),
        sealing_key_file=str(own.sealing_keys),
        metrics_port=split_url(state.metrics["web"]).port or 0,
    )
