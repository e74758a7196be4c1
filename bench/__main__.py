"""bin/bench: one run measures the server and the bare engine beside it, and prints both with their ratio."""

import importlib
import logging
import os
from typing import Annotated, Any

import structlog
import typer

from bench.load import raise_open_files
from bench.report import Report, as_json, machine, show
from tertulia.engines import find_postgres
from tertulia.engines.find import postgres_version
from tertulia.kernel.settings import load_settings

# Rate limits are counted as always, but never reached.
UNLIMITED = {
    "TERTULIA_POSTGRES_BIN": "wheel",
    "TERTULIA_USER_RATE": "1000000/1",
    "TERTULIA_ADDRESS_RATE": "1000000/1",
}


# What each command shows, and the modules that measure it.
MEASUREMENTS = {
    "send": ("Messages a second, 64 clients.", ["send"]),
    "cost": ("Rows and time of a message at 10 to 100,000 subscribers.", ["cost"]),
    "polls": ("10,000 waiting polls: memory, and time until all have a message.", ["polls"]),
    "delivery": ("From POST /messages to the event.", ["delivery"]),
    "events": ("Delivery and polls.", ["delivery", "polls"]),
    "register": ("POST /register with the whole state.", ["register"]),
    "fetch": ("The 100 newest messages of several narrows.", ["fetch"]),
    "rights": ("May they? At many groups and channels.", ["rights"]),
    "users": ("GET /users with 10,000 users.", ["users"]),
    "typing": ("Typing notices a second.", ["typing_notices"]),
    "unread": ("50,000 unread messages: listing and marking them.", ["unread"]),
    "presence": ("A minute in which everybody pings.", ["presence"]),
    "rename": ("Renaming a large topic.", ["rename"]),
    "markup": ("Text to HTML.", ["markup"]),
    "channels": ("10,000 channels; 10,000 people subscribed at once.", ["channels"]),
    "hot": ("64 writers and 5,000 listeners in one channel for ten minutes; then in 1,000 channels.", ["hot"]),
    "constants": ("What each kind of call costs here, and an hour of somebody who is online.", ["constants"]),
    "bulk": ("10,000 people subscribed or put into a group at once, while others talk.", ["bulk"]),
    "herd": ("5,000 clients come back after the death of all web processes.", ["herd"]),
    "audit": ("The audit log with 1,000,000 entries.", ["audit"]),
    "concerns": ("A mention of everybody among 20,000: the sender, and the worker.", ["concerns"]),
    "mails": ("10,000 mails to a mail server that is slow, away, and refuses.", ["mails"]),
    "public": ("A cached page of a public topic, and pages that are made anew.", ["public_pages"]),
    "scheduled": ("10,000 scheduled messages due at once.", ["scheduled"]),
}

app = typer.Typer(
    help="Start a server of its own, measure it and, in the same run, the bare engine beside it.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
)

Quick = Annotated[bool, typer.Option("--quick", help="Short and small: shows that it works.")]
Json = Annotated[bool, typer.Option("--json", help="One line of JSON per report instead of tables.")]


def add_measurement(name: str, about: str, modules: list[str]) -> None:
    def measure(quick: Quick = False, json: Json = False) -> None:
        postgres = prepare()
        for module in modules:
            before = machine(postgres)
            report = importlib.import_module(f"bench.{module}").measure(quick=quick)
            tell(report, before, json=json)

    app.command(name, help=about)(measure)


@app.command()
def gate(
    only: Annotated[str, typer.Option(help="Only the cases whose name contains this.")] = "",
    within: Annotated[
        float,
        typer.Option(
            help="By how many percent the CPU of one request alone may be worse; of 64 at once 2.5 times as many."
        ),
    ] = 20.0,
    record: Annotated[bool, typer.Option("--record", help="Do not judge: write bench/baseline.json anew.")] = False,
) -> None:
    """Fail if a hot path costs more than bench/baseline.json says: CPU, statements, rows, WAL bytes."""
    before = machine(prepare())
    from bench.gate.command import NoSuchCase, record_baseline, run_gate

    try:
        if record:
            record_baseline(before, only=only)
        elif not run_gate(before, only=only, within=within):
            raise typer.Exit(1)
    except NoSuchCase as error:
        raise typer.BadParameter(str(error)) from error


@app.command()
def backup(
    messages: Annotated[int | None, typer.Option(help="How many messages.  [default: 1,000,000]")] = None,
    files: Annotated[int | None, typer.Option(help="How many files.  [default: 1,000]")] = None,
    quick: Quick = False,
    json: Json = False,
) -> None:
    """A backup under load, and a restore: time, size, processor time; what was restored is compared."""
    before = machine(prepare())
    from bench.backup import measure

    report = measure(quick=quick, messages=messages, files=files)
    tell(report, before, json=json)


@app.command()
def export(
    messages: Annotated[int | None, typer.Option(help="How many messages.  [default: 1,000,000]")] = None,
    files: Annotated[int | None, typer.Option(help="How many files.  [default: 200]")] = None,
    quick: Quick = False,
    json: Json = False,
) -> None:
    """An export of many messages, and the reading of it: how many a second, and how much memory."""
    before = machine(prepare())
    from bench.export import measure

    report = measure(quick=quick, messages=messages, files=files)
    tell(report, before, json=json)


@app.command("import")
def import_(
    messages: Annotated[int | None, typer.Option(help="How many messages.  [default: 1,000,000]")] = None,
    quick: Quick = False,
    json: Json = False,
) -> None:
    """An import of many messages, beside rendering them alone and COPY of the same rows alone."""
    before = machine(prepare())
    from bench.imports import measure

    report = measure(quick=quick, messages=messages)
    tell(report, before, json=json)


@app.command()
def slack(
    messages: Annotated[int | None, typer.Option(help="How many messages.  [default: 200,000]")] = None,
    quick: Quick = False,
    json: Json = False,
) -> None:
    """An export of Slack that becomes an archive: how many messages a second, and how much memory."""
    before = machine(prepare())
    from bench.converting import measure
    from tests.harness.slack_export import write_large

    report = measure("slack", write_large, quick=quick, messages=messages)
    tell(report, before, json=json)


@app.command()
def mattermost(
    messages: Annotated[int | None, typer.Option(help="How many messages.  [default: 200,000]")] = None,
    quick: Quick = False,
    json: Json = False,
) -> None:
    """An export of Mattermost that becomes an archive: how many messages a second, and how much memory."""
    before = machine(prepare())
    from bench.converting import measure
    from tests.harness.mattermost_export import write_large

    report = measure("mattermost", write_large, quick=quick, messages=messages)
    tell(report, before, json=json)


def tell(report: Report, before: dict[str, Any], *, json: bool) -> None:
    """For people, or for programs; with what the machine was before."""
    report.machine = before
    if json:
        print(as_json(report), flush=True)
    else:
        show(report)


def prepare() -> str:
    """What all of them need; the version of PostgreSQL."""
    os.environ.update(UNLIMITED | os.environ)
    raise_open_files()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    return str(postgres_version(find_postgres(load_settings())))


if __name__ == "__main__":
    for name, (about, modules) in MEASUREMENTS.items():
        add_measurement(name, about, modules)
    app(prog_name="bin/bench")
