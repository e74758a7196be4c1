"""Which database an administrative command works on: the configured one, or that of a running `tertulia dev`."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.folder import DevFolder, default_folder, find_state
from tertulia.kernel.settings import PREFIX, Settings, load_settings
from tertulia.kernel.urls import split_url

DataFolder = Annotated[
    Path | None, typer.Option("--data", help="The data folder of a running `tertulia dev`, if it is not the default.")
]


def target_settings(data: Path | None) -> Settings:
    """`--data` wins; then TERTULIA_POSTGRES_URL or a settings file; then the default folder of `tertulia dev`."""
    settings = load_settings()
    is_configured = any(os.environ.get(PREFIX + name) for name in ("POSTGRES_URL", "CONFIG"))
    if data is None and is_configured:
        return settings
    folder = data or default_folder()
    state = find_state(folder)
    if state is None:
        raise CommandFailed(
            f"No `tertulia dev` runs in {folder}. Start it, name its folder with --data, or set TERTULIA_POSTGRES_URL."
        )
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
