"""`tertulia init`: from installed engines to a server that is set up, and the link by which its owner begins.

Each step makes so what is not so yet, and leaves the rest: after a failure the same command goes on where it ended. Nothing
that is there is written over. Secrets are written before they are used, so that no attempt leaves an account behind whose
password nobody knows. What a script needs, the link, is alone on standard output; what people read is on standard error.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tertulia.cli.container import CONTAINER_SECRETS
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json

if TYPE_CHECKING:
    from tertulia.cli.init.settings_file import SettingsFile, Wanted
    from tertulia.cli.init.system import System
    from tertulia.kernel.settings import Settings

FOLDER = Path("/etc/tertulia")


def init(
    host: Annotated[str, typer.Argument(help="The name people will come to, such as chat.example.com.")],
    owner: Annotated[
        str,
        typer.Argument(
            metavar="[OWNER_EMAIL]", help="Who will own the organization.  [default: whoever opens the link says so]"
        ),
    ] = "",
    folder: Annotated[Path, typer.Option(help="Where settings and secrets are kept.")] = FOLDER,
    organization: Annotated[
        str, typer.Option("--name", help="The organization's name, which its owner may change.  [default: the host]")
    ] = "",
    postgres_url: Annotated[
        str, typer.Option(metavar="URL", help="A database that is there already: only tables are made in it.")
    ] = "",
    postgres_admin: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="A superuser's address, to make role and database with.  [default: postgres on this machine]",
        ),
    ] = "",
    database: Annotated[str, typer.Option(help="The name of the role, and of its database.")] = "tertulia",
    nats_url: Annotated[
        str, typer.Option(metavar="URL", help="A NATS that is there already.  [default: one is set up]")
    ] = "",
    system: Annotated[
        bool, typer.Option(help="Whether to set up accounts, systemd's units and the site of a proxy, too; as root.")
    ] = True,
    standalone: Annotated[
        bool,
        typer.Option("--standalone", help="The server runs PostgreSQL and NATS itself: needs the extra `standalone`."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Set a server up: settings, secrets, database, units, an organization. Asks nothing, may be run again, and keeps what is
    there. Prints the link by which the owner chooses a password and begins; it is good for a day, once. Without OWNER_EMAIL
    whoever opens the link names the organization, its first channels and themselves: give it to nobody else."""
    from tertulia.cli.init.own_engines import STATE, own_postgres
    from tertulia.cli.init.settings_file import SettingsFile, Wanted
    from tertulia.cli.init.system import ACCOUNT, System

    if system and os.geteuid() != 0:
        raise CommandFailed(
            "Accounts, units and /etc are root's. Run this as root, or write settings only: --no-system --folder FOLDER."
        )
    if standalone and (postgres_url or postgres_admin or nats_url):
        raise CommandFailed("With --standalone the server runs its own PostgreSQL and NATS: name no others.")
    folder = folder.absolute()
    wanted = Wanted(host, owner, postgres_url, postgres_admin, database, nats_url)
    file = SettingsFile(folder, wanted, group=ACCOUNT if system else None)
    machine = System(folder, host, standalone=standalone) if system else None
    if machine:
        machine.make_accounts()
    if standalone:
        state = STATE if system else folder / "data"
        with own_postgres(file, wanted, state, ACCOUNT if system else None) as own:
            file = SettingsFile(folder, own, group=ACCOUNT if system else None)
            settings, _, link = _fill(file, own, organization)
        steps = machine.install(has_own_nats=False, must_restart=False) if machine else [_serve(file, " --standalone")]
    else:
        settings, must_restart, link = _fill(file, wanted, organization)
        steps = _set_up_nats(settings, file, machine, must_restart=must_restart)
    _tell(Outcome(settings.url_of(""), link, str(file.path), steps), as_json=as_json)


def _fill(file: "SettingsFile", wanted: "Wanted", organization: str) -> "tuple[Settings, bool, str | None]":
    """Settings, tables, an organization; whether PostgreSQL must be restarted, and the owner's link."""
    from tertulia.cli.init.database import prepare_database
    from tertulia.cli.init.first_owner import find_or_make_owner, wait_for_owner
    from tertulia.cli.init.saying import say
    from tertulia.migrations import migrate, pending

    settings, must_restart = prepare_database(file, wanted)
    if pending(settings.postgres_url):
        migrate(settings.postgres_url, tell=say)
        say("made the tables of the database")
    name = organization or wanted.host
    link = find_or_make_owner(settings, wanted.owner, name) if wanted.owner else wait_for_owner(settings, name)
    return settings, must_restart, link


def _set_up_nats(
    settings: "Settings", file: "SettingsFile", machine: "System | None", *, must_restart: bool
) -> list[str]:
    """Its configuration, unless it is somebody else's, and the units; what is to be done next."""
    from tertulia.cli.init.settings_file import configure_own_nats
    from tertulia.cli.init.system import NATS_ACCOUNT

    folder = file.path.parent
    has_own_nats = configure_own_nats(folder, settings, group=NATS_ACCOUNT if machine else None)
    if machine:
        steps = machine.install(has_own_nats=has_own_nats, must_restart=must_restart)
    else:
        steps = ["restart PostgreSQL"] if must_restart else []
        steps += [f"nats-server --config {folder / 'nats.conf'}"] if has_own_nats else []
        if folder != CONTAINER_SECRETS:  # other containers run the server, and this one is gone in a moment
            steps.append(_serve(file))
    if not has_own_nats:
        _look_at_nats(settings)
    return steps


def _serve(file: "SettingsFile", how: str = "") -> str:
    return f"TERTULIA_CONFIG={file.path} tertulia serve{how}"


class Outcome(NamedTuple):
    """What came of it."""

    url: str
    link: str | None
    config: str
    next: list[str]


def _look_at_nats(settings: "Settings") -> None:
    """One that is not there yet is waited for by the server: no reason to fail."""
    from tertulia.cli.doctor.nats import look_at_nats
    from tertulia.cli.init.saying import say

    try:
        look_at_nats(settings, is_dev=True)
    except Exception as problem:
        told = " ".join(str(problem).split()) or type(problem).__name__
        say(f"WARNING NATS: {told} -- no event arrives until it answers; `tertulia doctor` looks again")


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    """What comes next, and the link as the last word."""
    from tertulia.cli.init.saying import say

    if as_json:
        print_json(outcome._asdict())
        return
    say("\nNext:" if outcome.next else "")
    for step in outcome.next:
        say(f"  {step}")
    if outcome.link is None:
        say(f"The owner has a password already: log in at {outcome.url}")
    else:
        say("Open this link, then choose a password, and begin. It is good for a day, once:")
        print(outcome.link)
