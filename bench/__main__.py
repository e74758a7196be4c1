"""bin/bench: one run measures the server and the bare engine beside it, and prints both with their ratio."""

import importlib
import logging
import os
from enum import StrEnum
from typing import Annotated

import structlog
import typer

from bench.load import raise_open_files
from bench.report import as_json, machine, show
from tertulia.engines import find_postgres
from tertulia.engines.find import postgres_version
from tertulia.kernel.settings import load_settings

# Rate limits are counted as always, but never reached.
UNLIMITED = {
    "TERTULIA_POSTGRES_BIN": "wheel",
    "TERTULIA_USER_RATE": "1000000/1",
    "TERTULIA_ADDRESS_RATE": "1000000/1",
}


class Measurement(StrEnum):
    SEND = "send"
    COST = "cost"
    POLLS = "polls"
    DELIVERY = "delivery"
    EVENTS = "events"
    REGISTER = "register"
    FETCH = "fetch"
    RIGHTS = "rights"
    USERS = "users"
    TYPING = "typing"
    UNREAD = "unread"
    PRESENCE = "presence"
    RENAME = "rename"
    MARKUP = "markup"
    CHANNELS = "channels"
    SCHEDULED = "scheduled"


# What `events` is made of; the others are one module each.
_PARTS = {Measurement.EVENTS: (Measurement.DELIVERY, Measurement.POLLS)}


def bench(
    what: Annotated[Measurement, typer.Argument(help="What to measure; `events` is delivery and polls.")],
    quick: Annotated[bool, typer.Option("--quick", help="Short and small: shows that it works.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON per report instead of tables.")] = False,
) -> None:
    """Start a server of its own, measure it, measure the bare engine in the same run, and print the ratio."""
    os.environ.update(UNLIMITED | os.environ)
    raise_open_files()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    postgres = str(postgres_version(find_postgres(load_settings())))
    for part in _PARTS.get(what, (what,)):
        about = machine(postgres)
        report = importlib.import_module(f"bench.{part}").measure(quick=quick)
        report.machine = about
        if json:
            print(as_json(report), flush=True)
        else:
            show(report)


if __name__ == "__main__":
    typer.run(bench)
