"""`tertulia backup` and `tertulia restore`: archives of the database and the files (backups/)."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.progress import Progress
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.backups.erasures import Repeated
    from tertulia.backups.manifest import Manifest
    from tertulia.backups.retention import Pruned


class _MakesByDefault(TyperGroup):
    """`tertulia backup PLACE` is `tertulia backup make PLACE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["make", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_MakesByDefault,
    help="Archives of the database and the files. `tertulia backup PLACE` makes one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
PlaceArgument = Annotated[
    str, typer.Argument(metavar="PLACE", help="A folder or s3://bucket/prefix.  [default: TERTULIA_BACKUP_PLACE]")
]
ArchiveArgument = Annotated[str, typer.Argument(metavar="ARCHIVE", help="PLACE/NAME, or PLACE/latest for the newest.")]
IdentityOption = Annotated[
    Path | None, typer.Option("--identity", "-i", help="The file with the secret key that opens it.")
]
KeepDaily = Annotated[int, typer.Option("--keep-daily", min=0, help="Keep the newest of each of so many days.")]
KeepWeekly = Annotated[int, typer.Option("--keep-weekly", min=0, help="Keep the newest of each of so many weeks.")]


@app.command("make")
def make(
    place: PlaceArgument = "",
    recipient: Annotated[
        list[str] | None,
        typer.Option(
            "--recipient", "-r", help="A public key that opens it later.  [default: TERTULIA_BACKUP_RECIPIENTS]"
        ),
    ] = None,
    no_encryption: Annotated[
        bool, typer.Option("--no-encryption", help="Whoever gets the archive can read it.")
    ] = False,
    keep_daily: KeepDaily = 0,
    keep_weekly: KeepWeekly = 0,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an archive while the server runs; then remove old ones, if it is said how many are kept."""
    from tertulia.backups.encryption import read_recipients
    from tertulia.backups.making import make_backup
    from tertulia.backups.place import open_place

    settings = target_settings(data)
    recipients = read_recipients(recipient or [settings.backup_recipients])
    if no_encryption and recipients:
        raise CommandFailed("There are recipients, and --no-encryption: which of the two?")
    if not recipients and not no_encryption:
        raise CommandFailed(
            "Nobody could read the archive: name a public key with --recipient or TERTULIA_BACKUP_RECIPIENTS"
            " (`tertulia backup new-key` makes one), or say --no-encryption."
        )
    os.umask(0o077)  # whatever folder it is: nobody else on the machine reads an archive
    where = open_place(place, settings, must_exist=False)
    with Progress() as progress:
        made = asyncio.run(make_backup(settings, where, recipients, progress))
        pruned = _prune(settings, where, keep_daily, keep_weekly) if keep_daily or keep_weekly else None
    if as_json:
        print_json(_facts(made) | ({} if pruned is None else {"pruned": pruned._asdict()}))
        return
    print(f"{where.text}/{made.name}")
    print(_in_words(made), file=sys.stderr)
    if pruned is not None:
        _tell_pruned(pruned)


@app.command("list")
def list_archives(place: PlaceArgument = "", as_json: AsJson = False, data: DataFolder = None) -> None:
    """Archives in a place, the oldest first: name, version, rows, files, bytes of the database, encrypted or not."""
    from tertulia.backups.errors import BackupFailed
    from tertulia.backups.place import open_place

    where = open_place(place, target_settings(data, needs_server=False), must_exist=True)

    async def read() -> "list[Manifest | str]":
        found: list[Manifest | str] = []
        for name in (await where.archives()).whole:
            try:
                found.append(await where.read_manifest(name))
            except BackupFailed as problem:
                found.append(f"{name}: {problem}")
        return found

    found = asyncio.run(read())
    if as_json:
        print_json([{"problem": one} if isinstance(one, str) else _facts(one) for one in found])
        return
    for one in found:
        if isinstance(one, str):
            print(one, file=sys.stderr)
        else:
            is_secret = "encrypted" if one.is_encrypted else "open"
            print_rows([(one.name, one.program, one.rows, one.objects, one.database_bytes, is_secret)])


@app.command("verify")
def verify(
    archive: ArchiveArgument,
    identity: IdentityOption = None,
    sums: Annotated[bool, typer.Option("--sums", help="Only whether all is as it was written. Needs no key.")] = False,
    on: Annotated[
        str, typer.Option("--on", help="A PostgreSQL to make the throw-away database in.  [default: one is started]")
    ] = "",
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Restore an archive into a throw-away database, open all files, and compare both with what was written."""
    from tertulia.backups.encryption import read_identities
    from tertulia.backups.place import split_archive
    from tertulia.backups.verifying import verify_backup, verify_sums

    settings = target_settings(data, needs_server=False)
    place, name = split_archive(archive, settings)
    with Progress() as progress:
        if sums:
            manifest = asyncio.run(verify_sums(place, name, progress))
        else:
            manifest = asyncio.run(verify_backup(settings, place, name, read_identities(identity), progress, on=on))
    if as_json:
        print_json(_facts(manifest))
    else:
        print(f"{manifest.name} is {'as it was written' if sums else 'good'}: {_in_words(manifest)}")


@app.command("prune")
def prune_archives(
    place: PlaceArgument = "",
    keep_daily: KeepDaily = 0,
    keep_weekly: KeepWeekly = 0,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Remove archives that are not to be kept, and the files that only they needed."""
    from tertulia.backups.place import open_place

    settings = target_settings(data)
    pruned = _prune(settings, open_place(place, settings, must_exist=True), keep_daily, keep_weekly)
    if as_json:
        print_json(pruned._asdict())
    else:
        _tell_pruned(pruned)


@app.command("erasures")
def repeat_erasures(place: PlaceArgument = "", as_json: AsJson = False, data: DataFolder = None) -> None:
    """Erase whoever is listed as erased in a place and is not: what a restore does at its end. Prints how many people."""
    from tertulia.backups.erasures import repeat, write_list
    from tertulia.backups.place import open_place

    settings = target_settings(data)
    where = open_place(place, settings, must_exist=True)

    async def work() -> "Repeated":
        with Progress() as progress:
            repeated = await repeat(settings, where, progress)
        await write_list(settings, where)
        return repeated

    done = asyncio.run(work())
    if as_json:
        print_json({"erased": done.erased})
    else:
        print(done.erased)
    _check_all_erased(done)


@app.command("new-key")
def new_key(
    file: Annotated[Path, typer.Argument(help="Where to write it. Keep it apart from the server and the archives.")],
) -> None:
    """Make a key that opens archives, readable for you alone, and print its public half: the recipient."""
    print(write_key(file))


def write_key(file: Path) -> str:
    """Make a key, readable for its owner alone; returns its public half."""
    from tertulia.backups.encryption import new_identity

    text, public = new_identity()
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        raise CommandFailed(f"{file} cannot be made: {problem.strerror}.") from problem
    try:
        with os.fdopen(handle, "w") as target:
            target.write(text)
    except OSError as problem:
        file.unlink()
        raise CommandFailed(f"{file} cannot be written: {problem.strerror}.") from problem
    return public


def restore(
    archive: ArchiveArgument,
    identity: IdentityOption = None,
    keep_files: Annotated[bool, typer.Option("--keep-files", help="Other files in the storage stay there.")] = False,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Bring an archive back into an empty database and an empty storage. The server must be stopped."""
    from tertulia.backups.encryption import read_identities
    from tertulia.backups.place import split_archive
    from tertulia.backups.restoring import restore_backup

    settings = target_settings(data)
    place, name = split_archive(archive, settings)
    identities = read_identities(identity)
    with Progress() as progress:
        done = asyncio.run(restore_backup(settings, place, name, identities, progress, keep_files=keep_files))
    if as_json:
        more = {"migrated": done.migrated, "slot_elsewhere": done.slot_elsewhere, "erased": done.repeated.erased}
        print_json(_facts(done.manifest) | more)
        _check_all_erased(done.repeated)
        return
    print(f"Restored {done.manifest.name}: {_in_words(done.manifest)}")
    if done.migrated:
        print("The database was migrated to the form of this program.")
    if done.repeated.erased:
        print(f"{done.repeated.erased:,} people who were erased after the archive was made are erased again.")
    if done.slot_elsewhere:
        print(
            f"The replication slot {settings.slot} belongs to the database {done.slot_elsewhere}: a relay on this one needs"
            " another TERTULIA_SLOT, or that slot dropped."
        )
    print(
        "The keys of TERTULIA_SEALING_KEY_FILE are not in archives: put those of the old server in place, then start."
    )
    _check_all_erased(done.repeated)


def _check_all_erased(repeated: "Repeated") -> None:
    if repeated.refused:
        advice = "When that is solved, and before the server starts, run `tertulia backup erasures`."
        raise CommandFailed(" ".join([*repeated.refused, advice]))


def _prune(settings: Any, place: Any, daily: int, weekly: int) -> "Pruned":
    from tertulia.backups.retention import prune
    from tertulia.backups.snapshot import open_session

    with open_session(settings.postgres_url) as session:
        session.lock_alone()  # nobody makes an archive of what is being removed
        return asyncio.run(prune(place, daily, weekly))


def _facts(manifest: "Manifest") -> dict[str, Any]:
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(manifest)
    return found


def _in_words(manifest: "Manifest") -> str:
    seconds = (manifest.ended_at - manifest.begun_at).total_seconds()
    return (
        f"{manifest.rows:,} rows of {manifest.tables} tables ({manifest.database_bytes / 1e6:,.1f} MB), "
        f"{manifest.objects:,} files ({manifest.object_bytes / 1e6:,.1f} MB, {manifest.copied:,} of them new), {seconds:,.0f} s"
    )


def _tell_pruned(pruned: "Pruned") -> None:
    for name in pruned.removed:
        print(f"removed {name}", file=sys.stderr)
    print(
        f"{len(pruned.kept)} kept, {len(pruned.removed)} removed, with {pruned.objects:,} files"
        f" ({pruned.bytes / 1e6:,.1f} MB)",
        file=sys.stderr,
    )
