"""`tertulia doctor`: is this machine, and is this configuration, fit to run the server?

One file for each thing that it looks at. A check returns what holds, or raises: `Advice` for what works but should not stay so,
anything else for what does not work.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.target import DataFolder, settings_file, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings

Check = Callable[["Settings"], str]


class Advice(Exception):
    """The server runs, but not as it should."""


class Several(Exception):
    """All that is wrong with one thing."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))


def doctor(
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file with settings.")] = None,
    data: DataFolder = None,
    thorough: Annotated[bool, typer.Option("--thorough", help="Also wait as long as a poll does: a minute.")] = False,
) -> None:
    """Check settings and engines; say what to fix. Exit code 1 if something is wrong. Run it as the server's account."""
    from tertulia.kernel.settings import SettingsError, load_settings

    print(f"ok      Python: {sys.version.split()[0]}")
    file = settings_file(config) if data is None else config
    try:
        settings = load_settings(file) if data is None else target_settings(data)
    except SettingsError as problem:
        print(f"WRONG   settings: {problem}")
        raise typer.Exit(1) from problem
    if data is None:
        print(f"ok      settings file: {file or 'none, only the environment'}")
    found = [_look(name, check, settings) for name, check in _checks(file, data, thorough).items()]
    if not all(found):
        raise typer.Exit(1)


def _checks(config: Path | None, data: Path | None, is_thorough: bool) -> dict[str, Check]:
    from tertulia.cli.doctor.engines import look_at_programs
    from tertulia.cli.doctor.files import look_at_files, look_at_scanner
    from tertulia.cli.doctor.front import look_at_front
    from tertulia.cli.doctor.machine import look_at_machine
    from tertulia.cli.doctor.mail import look_at_mail, look_at_mail_in
    from tertulia.cli.doctor.nats import look_at_nats
    from tertulia.cli.doctor.ports import look_at_ports
    from tertulia.cli.doctor.postgres import look_at_postgres
    from tertulia.cli.doctor.processes import look_at_processes
    from tertulia.cli.doctor.proxy import look_at_proxy
    from tertulia.cli.doctor.secret_files import look_at_sealing, look_at_secret_files
    from tertulia.cli.doctor.settings import look_at_settings
    from tertulia.cli.doctor.web_client import look_at_web_client

    is_dev = data is not None
    return {
        "settings": look_at_settings,
        "PostgreSQL": partial(look_at_postgres, is_dev=is_dev),
        "NATS": partial(look_at_nats, is_dev=is_dev),
        "files": partial(look_at_files, is_dev=is_dev),
        "machine": look_at_machine,
        "sealing key": look_at_sealing,
        "secret files": partial(look_at_secret_files, config),
        "malware scanner": look_at_scanner,
        "mail": look_at_mail,
        "mail in": look_at_mail_in,
        "web client": look_at_web_client,
        "ports": partial(look_at_ports, is_dev=is_dev),
        "proxy": look_at_proxy,
        "public address": partial(look_at_front, is_dev=is_dev, is_thorough=is_thorough),
        "processes": look_at_processes,
        "for `tertulia dev`": look_at_programs,
    }


def _look(name: str, check: Check, settings: "Settings") -> bool:
    """Say what was found; whether it is good enough."""
    try:
        print(f"ok      {name}: {check(settings)}")
    except Advice as advice:
        print(f"WARNING {name}: {advice}")
    except Exception as problem:
        print(f"WRONG   {name}: {_one_line(problem)}{_advice(name, problem)}")
        return False
    return True


def _one_line(problem: Exception) -> str:
    return " ".join((str(problem) or type(problem).__name__).split())


def _advice(name: str, problem: Exception) -> str:
    from nats.errors import NoServersError

    if name == "files":
        return " -- do TERTULIA_STORAGE_FOLDER or TERTULIA_S3_* say where? (--data checks a `tertulia dev`)"
    if name in ("PostgreSQL", "NATS") and isinstance(problem, (OSError, NoServersError)):
        variable = {"PostgreSQL": "TERTULIA_POSTGRES_URL"}.get(name, "TERTULIA_NATS_URL")
        return f" -- is it running, and does {variable} say where? (--data checks a `tertulia dev`)"
    return ""
