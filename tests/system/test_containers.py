"""deploy/container: what can be said of it without building an image. `bin/soak --container` builds it and runs every service."""

import re
import shlex
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tertulia import __version__
from tertulia.cli.commands import app
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import load_settings
from tertulia.kernel.variables import unknown_variables
from tests.system.compose_file import CHECKOUT, FOLDER, ComposeFile, commands_of_guide, read_compose, read_variables

pytestmark = pytest.mark.system
MOST_COMMANDS = 5
ENGINES = {"postgres", "caddy"}
SERVICES = ["postgres", "nats", "migrate", "relay", "worker", "web", "caddy", "init", "backup"]
HOST, OWNER = "chat.example.com", "ines@example.com"
DEBIAN = CHECKOUT / "deploy" / "debian"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of deploy/container where `./setup` has run."""
    for path in FOLDER.iterdir():
        if path.is_file() and path.name != ".env":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert set_up(tmp_path, HOST, OWNER).returncode == 0
    return tmp_path


@pytest.fixture
def compose(folder: Path) -> ComposeFile:
    return read_compose(folder, read_variables(folder / ".env"))


def set_up(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "setup", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_the_guide_needs_no_more_than_five_commands() -> None:
    commands = commands_of_guide("Five commands")
    assert len(commands) <= MOST_COMMANDS
    assert not [each for each in commands if re.search(r"[;&|]", each)], "one command is one command"
    [build] = [shlex.split(each) for each in commands if each.startswith("docker build")]
    assert build[build.index("--tag") + 1] == f"tertulia:{__version__}"
    assert (CHECKOUT / build[build.index("--file") + 1]).is_file()


def test_every_container_is_confined(compose: ComposeFile) -> None:
    assert list(compose.services) == SERVICES
    for service in compose.services.values():
        said = service.said
        assert said["read_only"] is True
        assert said["cap_drop"] == ["ALL"]
        assert said["security_opt"] == ["no-new-privileges:true"]
        assert int(said["user"].partition(":")[0]) > 0
        assert "cap_add" not in said or service.name == "caddy"
        assert "ports" not in said or service.name == "caddy"
        assert said["restart"] == ("no" if service.is_by_hand or service.name == "migrate" else "unless-stopped")


def test_nothing_is_named_that_is_not_there(compose: ComposeFile, folder: Path) -> None:
    for service in compose.services.values():
        assert set(service.networks) <= set(compose.networks)
        assert set(service.conditions) <= set(compose.services)
        assert set(service.said.get("secrets", [])) <= set(compose.secrets)
        for source, _ in service.mounts:
            assert source in compose.volumes or (folder / source).is_file(), source
        for needed, condition in service.conditions.items():
            has_question = compose.services[needed].question is not None
            assert has_question == (condition == "service_healthy"), f"{service.name} waits for {needed}"
    for path in compose.secrets.values():
        assert (folder / path).is_file()


def test_its_commands_are_ours(compose: ComposeFile) -> None:
    known = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    known |= {group.name or "" for group in app.registered_groups}
    ours = [each for each in compose.services.values() if each.name not in ENGINES and "entrypoint" not in each.said]
    assert {each.said["command"][0] for each in ours} == {"migrate", "relay", "worker", "web", "init", "backup"}
    assert {each.said["command"][0] for each in ours} | {"health"} <= known
    assert {each.said["image"] for each in ours} == {f"tertulia:{__version__}"}


def test_its_settings_are_known_and_fit_together(compose: ComposeFile, folder: Path) -> None:
    image = dict(re.findall(r"^\s*(?:ENV )?(TERTULIA_\w+)=(\S+)", (FOLDER / "Containerfile").read_text(), re.MULTILINE))
    for service in compose.services.values():
        env = image | service.environment
        assert unknown_variables(env) == []
        if "TERTULIA_CONFIG" not in service.environment:
            continue
        assert env.pop("TERTULIA_CONFIG") == "/run/secrets/tertulia.toml"
        settings = load_settings(folder / "secrets" / "tertulia.toml", env)
        assert settings.external_host == HOST
        assert settings.trusted_proxies == compose.services["caddy"].networks["front"]["ipv4_address"]
        assert settings.sealing_key_file == "/run/secrets/sealing.keys"
        assert settings.storage_folder.startswith(dict(service.mounts)["files"])
        assert settings.metrics_port, "the health check asks there"


def test_the_engines_are_told_what_they_are_told_elsewhere(compose: ComposeFile, folder: Path) -> None:
    told = dict(word.removeprefix("-c").split("=") for word in compose.services["postgres"].said["command"][1:])
    wanted = dict(re.findall(r"^(\w+) = '([^']+)'", (DEBIAN / "postgresql.conf").read_text(), re.MULTILINE))
    assert wanted.items() <= told.items()
    ours, theirs = (settings_of((place / "nats.conf").read_text()) for place in (folder / "secrets", DEBIAN))
    for name in ("max_payload", "server_name", "sync_interval"):
        assert ours[name] == theirs[name]
    settings = load_settings(folder / "secrets" / "tertulia.toml", {})
    assert ours["sync_interval"] == f'"{settings.nats_sync_seconds}s"'
    assert ours["store_dir"].strip('"') == dict(compose.services["nats"].mounts)["nats"]


def settings_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"^\s*(\w+): (\S+)", text, re.MULTILINE))


def test_setting_up_makes_secrets_once_that_nobody_else_reads(folder: Path) -> None:
    secrets = folder / "secrets"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
    before = {path: path.read_text() for path in secrets.iterdir()}
    assert set_up(folder, HOST, OWNER).returncode == 0
    assert {path: path.read_text() for path in secrets.iterdir()} == before
    assert set_up(folder, "other.example.com", OWNER).returncode == 1
    for wrong in ([HOST], [HOST, "nobody"], ["a b", OWNER], ["https://chat", OWNER], [HOST, "a'b@example.com"], []):
        assert set_up(folder, *wrong).returncode == 2, wrong
    said = tomllib.loads((secrets / "tertulia.toml").read_text())
    assert f":{(secrets / 'postgres-tertulia').read_text()}@postgres:" in said["postgres_url"]
    password = re.search(r'password: "(\w{48})"', (secrets / "nats.conf").read_text())
    assert password
    assert f":{password[1]}@nats:" in said["nats_url"]
    passwords = {(secrets / name).read_text() for name in ("postgres-superuser", "postgres-tertulia")} | {password[1]}
    assert len(passwords) == 3
    keyed = load_settings(None, {"TERTULIA_SEALING_KEY_FILE": str(secrets / "sealing.keys")})
    assert sealer_of(keyed).has_key
    assert not [text for text in before.values() if re.search("PASSWORD|SITE", text)], "each word was put in"


def test_no_secret_is_in_what_is_committed_or_in_the_image() -> None:
    assert {".env", "secrets/"} <= set((FOLDER / ".gitignore").read_text().split())
    context = (FOLDER / "Containerfile.dockerignore").read_text().split()
    assert "*" in context
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {path for path in context if path.startswith("!deploy")} == {f"!{path}" for path in shipped}
    copied = {rest.split()[0] for word, rest in lines_of_image() if word == "COPY"}
    assert set(shipped) <= copied, "the wheel is made of them"


def lines_of_image() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", (FOLDER / "Containerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def test_the_image_is_pinned_and_runs_as_nobody_of_weight() -> None:
    lines = lines_of_image()
    stages = [rest for word, rest in lines if word == "FROM"]
    assert stages == ["${BASE} AS build", "${BASE}"], "what builds is not in what runs"
    installs = [part for word, rest in lines if word == "RUN" for part in rest.split("&&") if "pip install" in part]
    loose = [part for part in installs if "--require-hashes" not in part and "--no-index --no-deps" not in part]
    assert (len(installs), loose) == (4, [])
    assert "npm ci" in str(lines)
    assert not [rest for word, rest in lines if word == "ADD" or "curl" in rest or "wget" in rest]
    said: dict[str, Any] = dict(lines[[word for word, _ in lines].index("FROM") + 1 :])
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", said["USER"])
    assert said["ENTRYPOINT"] == '["tertulia"]'
    assert said["HEALTHCHECK"].endswith('CMD ["tertulia", "health"]')
    assert f'image.version="{__version__}"' in said["LABEL"]
    copied = [
        part for word, rest in lines if word == "COPY" and not rest.startswith("--from") for part in rest.split()[:-1]
    ]
    assert not [path for path in copied if not (CHECKOUT / path).exists()]
