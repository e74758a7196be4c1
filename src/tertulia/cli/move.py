"""`tertulia move`: an organization goes from one server to another (docs/how-to/move.md)."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import get_realm, in_transaction, with_database
from tertulia.cli.errors import CommandFailed
from tertulia.cli.importing import Processes, SourceUrls, Subdomain, load
from tertulia.cli.moving import facts_of, in_words
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.progress import Progress
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.archives.form.manifest import Manifest
    from tertulia.archives.reading.archive import Archive
    from tertulia.backups.encryption import Identity
    from tertulia.kernel.db import Database, Transaction
    from tertulia.kernel.settings import Settings

app = typer.Typer(help="Organizations that go from one server to another.", no_args_is_help=True, rich_markup_mode=None)
RealmArgument = Annotated[
    str, typer.Argument(metavar="REALM", help="The organization's subdomain; '' is the main one.")
]
WRITERS_SECONDS = 60.0
"""How long those are waited for who began to write before the freeze: longer than any request may take."""


@app.command("freeze")
def freeze(realm: RealmArgument, as_json: AsJson = False, data: DataFolder = None) -> None:
    """Make an organization read only. People read and log in; whoever writes is told to try again. It stays so until
    `tertulia move thaw` or `tertulia move done`, whatever happens to this command."""
    from tertulia.organization.realms import freezing

    settings = target_settings(data)

    async def work(database: "Database") -> bool:
        async with database.transaction() as tx:
            is_new = await freezing.freeze(tx, (await get_realm(tx, realm)).id)
        await wait_for_writers(database)
        return is_new

    is_new = with_database(settings, work)
    _tell(settings, realm, as_json=as_json, words="frozen" if is_new else "frozen already", is_frozen=True)


@app.command("thaw")
def thaw(realm: RealmArgument, as_json: AsJson = False, data: DataFolder = None) -> None:
    """Let people write to an organization again that was frozen: it stays on this server after all."""
    from tertulia.organization.realms import freezing

    async def work(tx: "Transaction") -> bool:
        found = await get_realm(tx, realm)
        if not found.is_active:
            raise CommandFailed(
                "The organization is deactivated. If it has not moved after all: `tertulia realm reactivate`, then thaw it."
            )
        return await freezing.thaw(tx, found.id)

    is_new = in_transaction(data, work, while_frozen=True)
    words = "can be written to again" if is_new else "was not frozen"
    _tell(target_settings(data), realm, as_json=as_json, words=words, is_frozen=False)


@app.command("key")
def key(
    file: Annotated[Path, typer.Argument(help="Where to write it: on the server that takes the organization in.")],
    as_json: AsJson = False,
) -> None:
    """Make the key that opens a moving archive, readable for you alone, and print its public half, for `move out --to`.

    Delete it when the organization has moved.
    """
    from tertulia.cli.backup import write_key

    public = write_key(file)
    if as_json:
        print_json({"recipient": public, "file": str(file)})
    else:
        print(public)


@app.command("out")
def out(
    realm: RealmArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The moving archive to write. It must not be there.")],
    to: Annotated[str, typer.Option(help="The public key that `tertulia move key` printed on the other server.")],
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Write a frozen organization into one encrypted file: all that an export has, and passwords, keys and second factors.

    Only the key of the other server opens it.
    """
    from tertulia.archives.writing.actions import export_realm
    from tertulia.archives.writing.scope import Asked
    from tertulia.backups.encryption import encrypted, read_recipients
    from tertulia.content.storage import Store
    from tertulia.messaging.erasure.queries import is_any_under_way

    settings = target_settings(data)
    recipients = read_recipients([to])
    if len(recipients) != 1:
        raise CommandFailed("--to is one public key, such as age1…: that of the server where the organization goes.")
    if file.exists():
        raise CommandFailed(f"{file} is there already: name another file, or remove it.")

    async def work(database: "Database") -> "Manifest":
        async with database.reader() as reader:
            found = await get_realm(reader, realm)
        if not found.facts.notes.frozen:
            raise CommandFailed(
                "People still write to the organization, and what they write would stay behind. First: `tertulia move freeze`."
            )
        await wait_for_writers(database)
        async with database.reader() as reader:
            if await is_any_under_way(reader, found.id):
                raise CommandFailed(
                    "Somebody is being erased, and the rest of that would stay behind. First: `tertulia move thaw`, and wait"
                    " until `tertulia user receipt` says when it was finished."
                )
        with Progress() as progress:
            asked, through = Asked(found.id, "moving"), partial(encrypted, recipients=recipients)
            return await export_realm(database, Store(settings), asked, file, lambda text, *_: progress(text), through)

    made = with_database(settings, work)
    if as_json:
        print_json(facts_of(made))
        return
    print(file)
    print(in_words(made), file=sys.stderr)


@app.command("in")
def take_in(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The moving archive, which `tertulia move out` wrote.")],
    subdomain: Subdomain,
    identity: Annotated[
        Path, typer.Option("--identity", "-i", help="The file with the secret key that `tertulia move key` made.")
    ],
    source_url: SourceUrls = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only read the archive, and say what would come.")] = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of a moving archive, with passwords and keys. Nobody sees it until it is whole.

    If it was stopped, it goes on where it was: give the same command again. What was sealed with the key of the other server is
    sealed with the one of this server.
    """
    from tertulia.archives.loading.actions import Wanted
    from tertulia.backups.encryption import read_identities
    from tertulia.organization.realms.actions import check_subdomain

    check_subdomain(subdomain)
    wanted = Wanted(
        file=file,
        subdomain=subdomain,
        sources=tuple(source_url or ()),
        processes=processes or os.cpu_count() or 1,
    )
    opened = partial(_opened, read_identities(identity))
    load(wanted, data, dry_run=dry_run, as_json=as_json, opened=opened)


@contextmanager
def _opened(identities: "Sequence[Identity]", file: Path) -> "Iterator[Archive]":
    from tertulia.archives.reading.archive import Archive
    from tertulia.backups.unlocking import unlocked

    with unlocked(file, identities) as content:
        yield Archive(content, moves=True)


@app.command("done")
def done(
    realm: RealmArgument,
    url: Annotated[str, typer.Option(help="Where it is now: whoever still comes here is told.")] = "",
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Close a frozen organization on the server that it has left: nobody gets in, queues end. All of it is kept.

    First let its address lead to the other server.
    """
    from tertulia.organization.realms import freezing
    from tertulia.organization.realms.actions import switch_realm

    if url and not re.fullmatch(r"https?://[^\s/]+/?", url):
        raise CommandFailed("--url is an address such as https://team.example.com.")

    async def work(tx: "Transaction") -> bool:
        found = await get_realm(tx, realm)
        if not found.facts.notes.frozen:
            raise CommandFailed("The organization is not frozen, so it has not moved. First: `tertulia move freeze`.")
        if url:
            await freezing.note_new_home(tx, found.id, url.rstrip("/"))
        return await switch_realm(tx, found.id, is_active=False)

    is_new = in_transaction(data, work, while_frozen=True)
    words = "closed" if is_new else "closed already"
    _tell(target_settings(data), realm, as_json=as_json, words=words, is_active=False, moved_to=url.rstrip("/") or None)


async def wait_for_writers(database: "Database") -> None:
    """Nobody writes any more, after this."""
    from tertulia.organization.realms.freezing import wait_for_writers

    if left := await wait_for_writers(database, WRITERS_SECONDS):
        raise CommandFailed(
            f"The organization is frozen, but transactions that began before are still under way after"
            f" {WRITERS_SECONDS:.0f} s ({', '.join(left)}). End them, and give the same command again."
        )


def _tell(settings: "Settings", realm: str, *, as_json: bool, words: str, **facts: Any) -> None:
    url = settings.url_of(realm)
    if as_json:
        print_json({"url": url, **facts})
    else:
        print(f"{url}: {words}", file=sys.stderr)
