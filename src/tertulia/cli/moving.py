"""`tertulia export` and `tertulia archive`: an organization as one file (archives/)."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import get_realm, with_database
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.progress import Progress
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.archives.form.manifest import Manifest
    from tertulia.kernel.db import Database

app = typer.Typer(
    help="Archives of organizations: what `tertulia export` writes.", no_args_is_help=True, rich_markup_mode=None
)


class ScopeName(StrEnum):
    EVERYTHING = "everything"
    CONSENTING = "consenting"
    PUBLIC = "public"


def export(
    realm: Annotated[str, typer.Argument(metavar="REALM", help="The organization's subdomain; '' is the main one.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write, a tar. It must not be there.")],
    scope: Annotated[
        ScopeName,
        typer.Option(
            help="Whose private data: everybody's, that of those who agree to it in their settings, or nobody's."
        ),
    ] = ScopeName.EVERYTHING,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Write an organization into one file, as it is at this moment, while the server runs. No password or key is in it.

    Readable for you alone: keep it as safe as the database.
    """
    from tertulia.archives.writing.actions import export_realm
    from tertulia.archives.writing.scope import Asked
    from tertulia.content.storage import Store

    settings = target_settings(data)
    if file.exists():
        raise CommandFailed(f"{file} is there already: name another file, or remove it.")

    async def work(database: "Database") -> "Manifest":
        async with database.reader() as reader:
            found = await get_realm(reader, realm)
        with Progress() as progress:
            asked = Asked(found.id, scope.value)
            return await export_realm(database, Store(settings), asked, file, lambda text, *_: progress(text))

    made = with_database(settings, work)
    if as_json:
        print_json(facts_of(made))
        return
    print(file)
    print(in_words(made), file=sys.stderr)


@app.command("check")
def check(file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")], as_json: AsJson = False) -> None:
    """Read an archive from its first byte to its last, with every sum, line and reference. Needs no server."""
    from tertulia.archives.reading.archive import open_archive
    from tertulia.archives.reading.checking import check_archive

    with open_archive(file) as archive, Progress() as progress:
        check_archive(archive, progress)
    if as_json:
        print_json(facts_of(archive.manifest))
    else:
        print(f"{file} is good: {in_words(archive.manifest)}")


def facts_of(manifest: "Manifest") -> dict[str, Any]:
    """All of it but the list of parts, which is for programs that have the file."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(manifest)
    del found["parts"]
    return found


def in_words(manifest: "Manifest") -> str:
    count = manifest.counts.get
    return (
        f"{manifest.scope} of {manifest.moment:%Y-%m-%d %H:%M:%S} UTC: {count('people', 0):,} people,"
        f" {count('channels', 0):,} channels, {count('messages', 0):,} messages, {count('files', 0):,} files"
        f" ({manifest.blob_bytes / 1e6:,.1f} MB)"
    )
