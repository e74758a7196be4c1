"""`tertulia init` and the units of deploy/debian on a machine of their own, to a message that goes through TLS.

The short form of `bin/soak --install`: on a copy of this machine instead of a new one, so the commands that install are left out.
"""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.system.debian_root import AUTHORITY, CHECKOUT, MOST_COMMANDS, OWNER, commands_of_guide, run_in_overlay

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another root"),
]
DEPLOY = CHECKOUT / "deploy" / "debian"
SERVICES = [path.name for path in sorted(DEPLOY.glob("*.service"))]
LARGEST_EXPOSURE = 2.5
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
SITE = f"/opt/tertulia/lib/{PYTHON}/site-packages"
DOCTOR = "/opt/tertulia/bin/tertulia doctor"
ENVIRONMENT = f"""\
python3 -m venv --without-pip /opt/tertulia
echo "import site; site.addsitedir('/srv/checkout/.venv/lib/{PYTHON}/site-packages')" >{SITE}/a.pth
echo /srv/checkout/src >{SITE}/b.pth
cp /srv/checkout/.venv/bin/nats-server /opt/tertulia/bin/
printf '#!/opt/tertulia/bin/python\\nfrom tertulia.cli import main\\nmain()\\n' >/opt/tertulia/bin/tertulia
chmod 755 /opt/tertulia/bin/tertulia
"""
"""The second and third command, without a network."""
INSTALL = f"""\
{ENVIRONMENT}
rm -rf /etc/postgresql/* /var/lib/postgresql/*
pg_createcluster 15 main --port 5433 --start
"""


MEET = f"python3 /usr/local/lib/stand-in/first_message.py $(cat /link) {OWNER} {AUTHORITY}"
"""What the owner does with the link."""
CONFINED = r"grep -Eh '^(Uid|CapBnd|NoNewPrivs|Seccomp):' /proc/$(cat /run/stand-in/tertulia-web.service)/status"
FILES = "stat --format '%n %a %U:%G' /etc/tertulia/*"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_commands_of_the_guide_lead_to_a_message_through_tls(tmp_path: Path) -> None:
    """With what the units forbid forbidden: systemctl.py says what of it is kept to."""
    *_, init, restart = commands_of_guide()
    said = run_in_overlay(tmp_path, [INSTALL, f"{init} >/link", restart, MEET, CONFINED, FILES, init, DOCTOR])
    assert said.code == 0, said.text
    assert "heard: It works!" in said.text
    assert re.search(r"Uid:\t[1-9].*\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n", said.text), said.text
    assert re.findall(r"^/etc/tertulia/(.*)", said.text, re.MULTILINE) == [
        "nats.conf 640 root:tertulia-nats",
        "sealing.keys 640 root:tertulia",
        "tertulia.toml 640 root:tertulia",
    ]
    assert "kept /etc/tertulia/tertulia.toml as it is" in said.text
    assert "The owner has a password already" in said.text


def test_the_guide_needs_no_more_than_five_commands() -> None:
    commands = commands_of_guide()
    assert len(commands) <= MOST_COMMANDS
    assert not [each for each in commands if re.search(r"[;&|]", each)], "one command is one command"


@pytest.mark.parametrize("service", SERVICES)
def test_a_unit_is_right_and_leaves_little_to_whoever_breaks_in(service: str, tmp_path: Path) -> None:
    check_unit(DEPLOY, service, tmp_path, "tertulia.target", "tertulia-web.socket")


def check_unit(deploy: Path, service: str, folder: Path, *others: str) -> None:
    """By systemd's own tools, with other units that it needs."""
    units = folder / "units"
    shutil.copytree(deploy, units)
    for path in units.glob("*.service"):  # it looks for the program as well
        path.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/usr/bin/true", path.read_text(), flags=re.MULTILINE))
    env = os.environ | {"SYSTEMD_UNIT_PATH": f"{units}:"}
    analyze = partial(subprocess.run, env=env, capture_output=True, text=True, check=False)
    verified = analyze(["systemd-analyze", "verify", "--man=no", service, *others])
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    rated = analyze(["systemd-analyze", "security", "--offline=true", "--no-pager", service]).stdout
    exposure = re.search(r"exposure level for \S+ ([\d.]+)", rated)
    assert exposure, rated
    assert float(exposure[1]) < LARGEST_EXPOSURE
