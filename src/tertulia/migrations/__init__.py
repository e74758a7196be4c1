"""Database migrations: numbered, plain SQL, run by Alembic. Part of the package, so that an installed wheel can migrate."""

from pathlib import Path

from alembic import command
from alembic.config import Config


def revisions() -> list[str]:
    """All forms of the database that this program knows, the newest last."""
    return sorted(path.name[:4] for path in (Path(__file__).parent / "versions").glob("[0-9]*.py"))


def migrate(postgres_url: str, revision: str = "head") -> None:
    """Bring the database to a revision. Safe to run twice, and from several machines at once."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["postgres_url"] = postgres_url
    command.upgrade(config, revision)
