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
from tests.system.test_install import check_unit

pytestmark = pytest.mark.cluster
GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "high-availability.md"
UNITS = FOLDER / "systemd"
SERVICES = [path.name for path in sorted(UNITS.glob("*.service"))]
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


@pytest.mark.parametrize("service", SERVICES)
def test_a_unit_is_right_and_leaves_little_to_whoever_breaks_in(service: str, tmp_path: Path) -> None:
    """As the guide's command copies them."""
    found = re.search(r"^cp --recursive --dereference systemd/\. (\S+)$", GUIDE.read_text(), re.MULTILINE)
    assert found
    units = tmp_path / "copied"
    subprocess.run(["bash", "-c", found[0].replace(found[1], f"{units}/")], cwd=FOLDER, check=True)
    assert not [path for path in units.rglob("*") if path.is_symlink()]
    check_unit(units, service, tmp_path)


def test_no_unit_of_postgresqls_account_takes_its_shared_memory_away() -> None:
    """The last word counts: PostgreSQL stops when RemoveIPC= of another unit of its account takes what it shares."""
    for unit in UNITS.glob("*.service"):
        if "User=postgres" in unit.read_text():
            files = [unit, *sorted(UNITS.glob(f"{unit.name}.d/*.conf"))]
            said = re.findall(r"^RemoveIPC=(\w+)", "\n".join(path.read_text() for path in files), re.MULTILINE)
            assert said[-1:] in ([], ["no"]), unit.name


def test_every_fault_that_the_guide_names_exists() -> None:
    named = re.findall(r"(?:--fault|bin/cluster fault) ([a-z-]+)", GUIDE.read_text())
    assert named
    assert set(named) <= FAULTS.keys()
