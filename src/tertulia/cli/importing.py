"""`tertulia import`: an archive becomes an organization of this server (archives/loading)."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.progress import Steps
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.archives.converting.accounts import Outcome, Request
    from tertulia.archives.converting.report import Incidents
    from tertulia.archives.loading.actions import Opened, Plan, Report, Wanted
    from tertulia.archives.loading.shifts import Shifts
    from tertulia.kernel.db import Database
    from tertulia.kernel.settings import Settings

T = TypeVar("T")
app = typer.Typer(help="Organizations that come from elsewhere.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Organizations that come from elsewhere."""


Subdomain = Annotated[
    str, typer.Option(help="Where the organization will be, below the server's host; '' is the host itself.")
]

Owner = Annotated[str, typer.Option(help="Address of the person who will own the organization. Needed to import.")]
Users = Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Who is who: columns id, email and role.")]
UsersTemplate = Annotated[
    Path | None,
    typer.Option(metavar="FILE.csv", help="Write such a table, with what the export says, to look through."),
]
To = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the archive that is made on the way.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where all that was lost or changed is written.  [default: beside the export]"),
]
SourceUrls = Annotated[
    list[str] | None,
    typer.Option(help="An address that the organization had: links to it in texts will lead here. May be repeated."),
]
OnlyConvert = Annotated[
    bool, typer.Option("--dry-run", help="Only convert it, and say what would come and what would not.")
]
Processes = Annotated[
    int | None, typer.Option(min=1, max=64, help="How many render texts at a time.  [default: one per processor]")
]


@app.command("archive")
def archive(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive, which `tertulia export` wrote.")],
    subdomain: Subdomain,
    source_url: SourceUrls = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only read the archive, and say what would come.")] = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of an archive, while the server runs. Nobody sees it until it is whole.

    An import that was stopped goes on where it was: give the same command again. People choose a new password by mail.

    A newer archive of an organization that was imported takes the place of the older one, as long as nobody has written here.
    """
    from tertulia.archives.loading.actions import Wanted
    from tertulia.organization.realms.actions import check_subdomain

    check_subdomain(subdomain)
    wanted = Wanted(
        file=file,
        subdomain=subdomain,
        sources=tuple(source_url or ()),
        processes=processes or os.cpu_count() or 1,
    )
    load(wanted, data, dry_run=dry_run, as_json=as_json)


@app.command("slack")
def slack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The zip that Slack made.")],
    subdomain: Subdomain,
    owner: Owner = "",
    name: Annotated[str, typer.Option(help="What the organization is called.  [default: the zip's name]")] = "",
    users: Users = None,
    users_template: UsersTemplate = None,
    to: To = None,
    report: ReportFile = None,
    files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Fetch files that are not in the zip from Slack, and keep them here."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with a token of Slack, if addresses in the zip are no longer good."),
    ] = None,
    dry_run: OnlyConvert = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of an export of Slack. Nobody sees it until it is whole.

    Look first with --dry-run. People claim their accounts by "Forgot password?" with their address.
    An import that was stopped goes on where it was: give the same command again, with the same files.
    """
    from tertulia.archives.converting.accounts import Request
    from tertulia.archives.converting.slack.actions import convert
    from tertulia.cli.converting import SLACK_FILES, fetching_from

    request = Request(file, subdomain, name=name, users=users, owner=owner, users_template=users_template)
    fetching = None if files is None else fetching_from(SLACK_FILES, files, token_file, data)

    def work(target: Path, folder: Path, incidents: "Incidents", told: Steps) -> "Coroutine[Any, Any, Outcome]":
        return convert(request, target, folder, incidents, told, fetching)

    _convert_and_load(request, work, to, report, data, dry_run=dry_run, as_json=as_json, processes=processes)


@app.command("zulip")
def zulip(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The tar.gz that Zulip made.")],
    subdomain: Subdomain,
    owner: Owner = "",
    name: Annotated[str, typer.Option(help="What the organization is called.  [default: as there]")] = "",
    source_url: SourceUrls = None,
    users: Users = None,
    users_template: UsersTemplate = None,
    to: To = None,
    report: ReportFile = None,
    dry_run: OnlyConvert = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of an export of a Zulip organization. Nobody sees it until it is whole.

    Look first with --dry-run. People claim their accounts by "Forgot password?" with their address.
    An import that was stopped goes on where it was: give the same command again, with the same files.
    """
    from tertulia.archives.converting.accounts import Request
    from tertulia.archives.converting.zulip.actions import convert

    request = Request(file, subdomain, name=name, users=users, owner=owner, users_template=users_template)

    def work(target: Path, folder: Path, incidents: "Incidents", told: Steps) -> "Coroutine[Any, Any, Outcome]":
        return convert(request, target, folder, incidents, told)

    sources = tuple(source_url or ())
    _convert_and_load(
        request, work, to, report, data, dry_run=dry_run, as_json=as_json, processes=processes, sources=sources
    )


@app.command("mattermost")
def mattermost(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The zip of a bulk export, or its file of JSON lines.")],
    subdomain: Subdomain,
    owner: Owner = "",
    name: Annotated[str, typer.Option(help="What the organization is called.  [default: as the team]")] = "",
    team: Annotated[
        list[str] | None,
        typer.Option(help="A team whose channels and people come. Needed if there are several; may be repeated."),
    ] = None,
    users: Users = None,
    users_template: UsersTemplate = None,
    to: To = None,
    report: ReportFile = None,
    dry_run: OnlyConvert = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of a bulk export of Mattermost. Nobody sees it until it is whole.

    Look first with --dry-run. People claim their accounts by "Forgot password?" with their address.
    An import that was stopped goes on where it was: give the same command again, with the same files.
    """
    from tertulia.archives.converting.accounts import Request
    from tertulia.archives.converting.mattermost.actions import convert

    request = Request(file, subdomain, name=name, users=users, owner=owner, users_template=users_template)
    teams = tuple(team or ())

    def work(target: Path, folder: Path, incidents: "Incidents", told: Steps) -> "Coroutine[Any, Any, Outcome]":
        return convert(request, target, folder, incidents, told, teams)

    _convert_and_load(request, work, to, report, data, dry_run=dry_run, as_json=as_json, processes=processes)


@app.command("rocketchat")
def rocketchat(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder or the archive that mongodump made.")],
    subdomain: Subdomain,
    owner: Owner = "",
    name: Annotated[str, typer.Option(help="What the organization is called.  [default: the dump's name]")] = "",
    users: Users = None,
    users_template: UsersTemplate = None,
    to: To = None,
    report: ReportFile = None,
    files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the files are, if Rocket.Chat kept them outside of its database."),
    ] = None,
    dry_run: OnlyConvert = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of a dump of Rocket.Chat's database. Nobody sees it until it is whole.

    Look first with --dry-run. People claim their accounts by "Forgot password?" with their address.
    An import that was stopped goes on where it was: give the same command again, with the same files.
    """
    from tertulia.archives.converting.accounts import Request
    from tertulia.archives.converting.rocketchat.actions import convert

    request = Request(path, subdomain, name=name, users=users, owner=owner, users_template=users_template)

    def work(target: Path, folder: Path, incidents: "Incidents", told: Steps) -> "Coroutine[Any, Any, Outcome]":
        return convert(request, target, folder, incidents, told, files)

    _convert_and_load(request, work, to, report, data, dry_run=dry_run, as_json=as_json, processes=processes)


@app.command("discord")
def discord(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Folders, zips and JSON files of DiscordChatExporter.")
    ],
    subdomain: Subdomain,
    owner: Owner = "",
    name: Annotated[str, typer.Option(help="What the organization is called.  [default: as there]")] = "",
    public: Annotated[
        list[str] | None,
        typer.Option(help="A channel that everybody may read, by name or id; '*' for all. May be repeated."),
    ] = None,
    users: Users = None,
    users_template: UsersTemplate = None,
    to: To = None,
    report: ReportFile = None,
    files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Fetch files that are not in the export from Discord, and keep them here."),
    ] = None,
    dry_run: OnlyConvert = False,
    processes: Processes = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Make an organization of what DiscordChatExporter wrote as JSON. Nobody sees it until it is whole.

    Look first with --dry-run. Exports have no addresses: say with --users who is who, so that people can claim their accounts.
    An import that was stopped goes on where it was: give the same command again, with the same files.
    """
    from tertulia.archives.converting.accounts import Request
    from tertulia.archives.converting.discord.actions import convert
    from tertulia.cli.converting import DISCORD_FILES, fetching_from

    request = Request(paths[0], subdomain, name=name, users=users, owner=owner, users_template=users_template)
    fetching = None if files is None else fetching_from(DISCORD_FILES, files, None, data)

    def work(target: Path, folder: Path, incidents: "Incidents", told: Steps) -> "Coroutine[Any, Any, Outcome]":
        return convert(request, paths, frozenset(public or ()), target, folder, incidents, told, fetching)

    _convert_and_load(request, work, to, report, data, dry_run=dry_run, as_json=as_json, processes=processes)


def _convert_and_load(
    request: "Request",
    work: "Callable[[Path, Path, Incidents, Steps], Coroutine[Any, Any, Outcome]]",
    to: Path | None,
    report: Path | None,
    data: Path | None,
    *,
    dry_run: bool,
    as_json: bool,
    processes: int | None,
    sources: tuple[str, ...] = (),
) -> None:
    """What all exports of other chats have in common."""
    from tertulia.archives.loading.actions import Wanted
    from tertulia.cli.converting import converted, print_conversion
    from tertulia.organization.realms.actions import check_subdomain

    check_subdomain(request.subdomain)
    if not (request.owner or dry_run):
        raise CommandFailed(
            "Say who will own the organization: --owner ADDRESS. What the export says is a proposal only."
        )
    beside = request.file.resolve()  # which may be the folder we are in
    report = report or beside.with_name(f"{beside.name}.report.jsonl")
    with converted(work, to, report) as made:
        processes = processes or os.cpu_count() or 1
        wanted = Wanted(file=made.archive, subdomain=request.subdomain, sources=sources, processes=processes)
        if not as_json or dry_run:
            print_conversion(made, report, as_json=as_json)
        load(wanted, data, dry_run=dry_run, as_json=as_json, is_told=dry_run)


def load(
    wanted: "Wanted",
    data: Path | None,
    *,
    dry_run: bool,
    as_json: bool,
    is_told: bool = False,
    opened: "Opened | None" = None,
) -> None:
    """An archive, in any case read whole. `is_told`: what would come has been said already. `opened`: how it is opened, if it
    is no plain file."""
    from tertulia.archives.loading.actions import import_archive, preview
    from tertulia.archives.reading.archive import open_archive
    from tertulia.content.storage import Store

    settings, opened = target_settings(data), opened or open_archive
    if dry_run:

        async def look(database: "Database") -> "tuple[Plan, Shifts]":
            with Steps() as told:
                return await preview(database, wanted, told, opened)

        plan, shifts = _importing_database(settings, look)
        if not is_told:
            _print_plan(plan, shifts, as_json=as_json)
        return

    async def work(database: "Database") -> "Report":
        with Steps() as told:
            return await import_archive(database, Store(settings), settings, wanted, told, opened)

    _print_report(_importing_database(settings, work), as_json=as_json)


@app.command("remove")
def remove(subdomain: Subdomain, data: DataFolder = None) -> None:
    """Take an import away that is not whole, with its rows and files. What is whole is never touched.

    If it is stopped, give the same command again.
    """
    from tertulia.archives.loading.removing import remove_half

    async def work(database: "Database") -> None:
        with Steps() as told:
            await remove_half(database, subdomain, told)

    _importing_database(target_settings(data), work)
    print(f"The half import at the subdomain {subdomain!r} is gone.")


def _importing_database(settings: "Settings", work: "Callable[[Database], Awaitable[T]]") -> T:
    """Statements may take as long as they need: nobody waits for them with a request."""
    from tertulia.kernel.db import Database
    from tertulia.kernel.postgres import Limits
    from tertulia.kernel.sealing import sealer_of

    limits = Limits(statement=0.0, process="import")

    async def run() -> T:
        connecting = Database.connect(
            settings.postgres_url,
            shards=settings.shards,
            size=2,
            sealer=sealer_of(settings),
            limits=limits,
            checked=True,
        )
        async with await connecting as database:
            return await work(database)

    try:
        return asyncio.run(run())
    except OSError as problem:
        raise CommandFailed(f"PostgreSQL cannot be reached: {problem}") from problem


def _print_plan(plan: "Plan", shifts: "Shifts", *, as_json: bool) -> None:
    import msgspec

    moved = msgspec.to_builtins(shifts)
    about = {"name": plan.organization.name, "moment": plan.manifest.moment, "scope": plan.manifest.scope}
    if as_json:
        print_json({**about, "counts": plan.manifest.counts, "shifts": moved})
        return
    print(f"{plan.organization.name}: {plan.manifest.scope} of {plan.manifest.moment:%Y-%m-%d %H:%M:%S} UTC")
    _print_counts(plan.manifest.counts)
    print(_about_ids(moved))
    if plan.manifest.scope != "moving":
        print("No passwords and keys are in the archive: people choose a new password by mail, bots get new keys.")
    print("Nothing was written.", file=sys.stderr)


def _print_report(report: "Report", *, as_json: bool) -> None:
    import msgspec

    if as_json:
        print_json(msgspec.to_builtins(report))
        return
    _print_counts(report.counts)
    print(_about_ids(msgspec.to_builtins(report.shifts)))
    for what, count in report.lost.items():
        print(f"{count:,}\t{what}")
    if report.renewed:
        print("The organization was there from an older archive, and is brought up to date.")
    messages = report.counts.get("messages", 0)
    print(f"{report.seconds:,.0f} s, {messages / max(report.seconds, 0.1):,.0f} messages/s", file=sys.stderr)
    print(report.url)


def _print_counts(counts: dict[str, int]) -> None:
    for kind, count in counts.items():
        if kind != "organization":
            print(f"{count:,}\t{kind.replace('_', ' ')}")


def _about_ids(shifts: dict[str, Any]) -> str:
    if not shifts:
        return "Ids are those of the archive."
    return "Ids are other ones here, because theirs are taken, for: " + ", ".join(sorted(shifts)) + "."
