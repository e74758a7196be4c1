"""`tertulia doctor` looks at who can read the files that hold secrets."""

from pathlib import Path

import pytest

from tertulia.kernel.sealing import new_key
from tests.harness.command import tertulia


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    keys, tls = tmp_path / "sealing.keys", tmp_path / "client.key"
    keys.write_text(new_key())
    tls.write_text("a private key")
    file = tmp_path / "tertulia.toml"
    file.write_text(
        f'postgres_url = "postgresql://a:b@127.0.0.1:1/c?sslkey={tls}"\nnats_url = "nats://127.0.0.1:1"\n'
        f'sealing_key_file = "{keys}"\n'
    )
    for each in (keys, tls, file):
        each.chmod(0o640)
    return file


def line_of(file: Path, *arguments: str) -> str:
    """What the doctor says of them; the engines are away, which does not matter here."""
    done = tertulia("doctor", *arguments, env={} if arguments else {"TERTULIA_CONFIG": str(file)})
    [line] = [line for line in done.stdout.splitlines() if " secret files: " in line]
    return line


def test_files_for_the_service_alone_are_fine(settings: Path) -> None:
    line = line_of(settings)
    assert line.startswith("ok ")
    for name in ("tertulia.toml", "sealing.keys", "client.key"):
        assert name in line


@pytest.mark.parametrize("name", ["tertulia.toml", "sealing.keys", "client.key"])
@pytest.mark.parametrize("mode", [0o644, 0o642, 0o660])
def test_a_file_that_others_get_at_is_named(settings: Path, name: str, mode: int) -> None:
    (settings.parent / name).chmod(mode)
    line = line_of(settings, "--config", str(settings))
    assert line.startswith("WARNING")
    assert f"{settings.parent / name} (mode {mode:04o})" in line
    assert line.count("(mode") == 1
