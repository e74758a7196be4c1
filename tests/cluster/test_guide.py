"""The files of deploy/cluster and the commands of docs/how-to/high-availability.md that change them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tertulia.engines import find_nats_server
from tertulia.kernel.settings import load_settings
from tests.cluster.faults import FAULTS
from tests.cluster.templates import FOLDER, PASSWORD, on_node, settings_of

pytestmark = pytest.mark.cluster
GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "high-availability.md"
FILES = ("nats.conf", "etcd.yml", "patroni.yml", "haproxy.cfg")


def test_the_command_of_the_guide_makes_the_files_of_another_machine(tmp_path: Path) -> None:
    found = re.search(r"^sed -i .*$", GUIDE.read_text(), re.MULTILINE)
    assert found
    for name in FILES:
        shutil.copy(FOLDER / name, tmp_path)
    subprocess.run(["bash", "-c", found[0]], cwd=tmp_path, check=True)
    for name in FILES:
        assert (tmp_path / name).read_text().replace("CHANGE-ME", PASSWORD) == on_node(name, 2), name


def test_the_settings_are_settings() -> None:
    settings = load_settings(env=settings_of("tertulia.env"))
    assert settings.nats_replicas == 3


def test_nats_takes_its_file(tmp_path: Path) -> None:
    program = find_nats_server(load_settings())
    done = subprocess.run([program, "-t", "-c", FOLDER / "nats.conf"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_haproxy_takes_its_file() -> None:
    program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if program is None:
        pytest.skip("haproxy is missing: apt-get install haproxy")
    done = subprocess.run([program, "-c", "-f", FOLDER / "haproxy.cfg"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_fault_that_the_guide_names_exists() -> None:
    named = re.findall(r"(?:--fault|bin/cluster fault) ([a-z-]+)", GUIDE.read_text())
    assert named
    assert set(named) <= FAULTS.keys()
