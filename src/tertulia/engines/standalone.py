"""The two engines of `tertulia serve --standalone`: where the settings say, in one folder, as a production site needs them.

Their ports and passwords are in `postgres_url` and `nats_url`, like those of engines that somebody else runs: every command finds
them there. PostgreSQL's superuser has a password of its own, in the folder.
"""

from pathlib import Path

from tertulia.engines.cluster import production
from tertulia.engines.errors import EngineFailed
from tertulia.engines.find import find_nats_server, find_postgres
from tertulia.engines.nats import USER, Nats
from tertulia.engines.postgres import Postgres
from tertulia.kernel.settings import Settings
from tertulia.kernel.urls import split_url


def standalone_postgres(settings: Settings, folder: Path, port: int) -> Postgres:
    """Of this folder of a standalone server."""
    programs = find_postgres(settings)
    return Postgres(programs, folder / "postgres", port=port, purpose=production())


def standalone_engines(settings: Settings) -> tuple[Postgres, Nats]:
    """Both, as the settings name them."""
    if not settings.standalone_folder:
        raise EngineFailed(
            "standalone_folder is not set: `tertulia init --standalone HOST OWNER_EMAIL` sets everything up."
        )
    folder = Path(settings.standalone_folder)
    postgres, nats = split_url(settings.postgres_url), split_url(settings.nats_url)
    here = ("127.0.0.1", "localhost")
    if (
        postgres.hostname not in here
        or nats.hostname not in here
        or not (postgres.port and nats.port and nats.password)
    ):
        raise EngineFailed(
            "postgres_url and nats_url must name 127.0.0.1, a port and a password: the engines are run here."
        )
    if nats.username != USER:
        raise EngineFailed(f"nats_url must have the user {USER}.")
    return standalone_postgres(settings, folder, postgres.port), Nats(
        find_nats_server(settings),
        folder / "nats",
        port=nats.port,
        sync_seconds=settings.nats_sync_seconds,
        password=nats.password,
    )
