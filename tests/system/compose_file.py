"""deploy/container/compose.yaml and the page about it, as tests read them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

CHECKOUT: Final = Path(__file__).parents[2]
FOLDER: Final = CHECKOUT / "deploy" / "container"
GUIDE: Final = CHECKOUT / "docs" / "how-to" / "run-in-containers.md"
BY_HAND: Final = "by-hand"
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


@dataclass(frozen=True)
class Service:
    """One of the file, with its variables put in."""

    name: str
    said: dict[str, Any]

    @property
    def environment(self) -> dict[str, str]:
        return {key: str(value) for key, value in self.said.get("environment", {}).items()}

    @property
    def networks(self) -> dict[str, dict[str, str]]:
        found = self.said.get("networks", [])
        return found if isinstance(found, dict) else {name: {} for name in found}

    @property
    def conditions(self) -> dict[str, str]:
        """Whom it waits for, and for what."""
        return {name: said["condition"] for name, said in self.said.get("depends_on", {}).items()}

    @property
    def mounts(self) -> list[tuple[str, str]]:
        """Volume or file, and where it is put."""
        return [(source, target) for source, target, *_ in (text.split(":") for text in self.said.get("volumes", []))]

    @property
    def question(self) -> list[str] | None:
        """The command that says whether it is well."""
        check = self.said.get("healthcheck", {})
        return None if check.get("disable") or not check else list(check["test"][1:])

    @property
    def is_by_hand(self) -> bool:
        return BY_HAND in self.said.get("profiles", [])


@dataclass(frozen=True)
class ComposeFile:
    """All of it."""

    services: dict[str, Service]
    secrets: dict[str, str]
    networks: dict[str, dict[str, Any]]
    volumes: list[str]


def read_compose(folder: Path, variables: Mapping[str, str]) -> ComposeFile:
    """As Compose reads it: anchors are followed, variables put in; one without a value that must have one is an error."""
    said = _filled(yaml.safe_load((folder / "compose.yaml").read_text()), variables)
    return ComposeFile(
        services={name: Service(name, service) for name, service in said["services"].items()},
        secrets={name: secret["file"] for name, secret in said["secrets"].items()},
        networks={name: network or {} for name, network in said["networks"].items()},
        volumes=list(said["volumes"]),
    )


def read_variables(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines() if line and not line.startswith("#"))


def commands_of_guide(heading: str) -> list[str]:
    """Those of the first `sh` block under a heading, one each."""
    found = re.search(rf"^## {heading}$.*?^```sh\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"the guide has no commands under {heading}"
    return [line for line in found[1].replace("\\\n", " ").splitlines() if line and not line.startswith("#")]


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, variables) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, variables) for each in value]
    return _VARIABLE.sub(lambda found: _value(found, variables), value) if isinstance(value, str) else value


def _value(found: re.Match[str], variables: Mapping[str, str]) -> str:
    name, kind, text = found.groups()
    if value := variables.get(name):
        return value
    if kind == "-":
        return str(text)
    raise LookupError(f"{name}: {text or 'has no value'}")
