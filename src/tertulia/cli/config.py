"""The settings as the server would read them: for people with secrets hidden, and one alone for scripts."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.target import DataFolder, configured_settings, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings

app = typer.Typer(help="Settings.", no_args_is_help=True, rich_markup_mode=None)
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A TOML file with settings.")]

HIDDEN = "(hidden)"
_SECRET = re.compile(r"password$|secret|sealing_keys$")
_IN_ADDRESS = re.compile(r"(://[^:/@]*:)[^@]*@")


@app.command("show")
def show(
    config: ConfigFile = None,
    data: DataFolder = None,
    is_all: Annotated[bool, typer.Option("--all", help="Also those that are as they are by themselves.")] = False,
    as_json: AsJson = False,
) -> None:
    """What is set, by the file and the environment. Secrets are hidden."""
    import msgspec

    from tertulia.kernel.settings import Settings

    found, usual = (msgspec.to_builtins(each) for each in (_read(config, data), Settings()))
    shown = {name: _without_secrets(name, value) for name, value in found.items() if is_all or value != usual[name]}
    if as_json:
        print_json(shown)
        return
    for name, value in shown.items():
        print(f"{name} = {value}")


@app.command("get")
def get(name: str, config: ConfigFile = None, data: DataFolder = None) -> None:
    """One setting alone, whatever it is, for scripts. Secrets are not hidden."""
    settings = _read(config, data)
    if name not in settings.__struct_fields__:
        raise CommandFailed(f"{name} is no setting. `tertulia config show --all` lists them.")
    print(settings.environment()["TERTULIA_" + name.upper()])


def _read(config: Path | None, data: Path | None) -> "Settings":
    return configured_settings(config) if data is None else target_settings(data)


def _without_secrets(name: str, value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_secrets(key, part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(name, part) for part in value]
    if not isinstance(value, str) or not value:
        return value
    return HIDDEN if _SECRET.search(name) else _IN_ADDRESS.sub(rf"\1{HIDDEN}@", value)
