"""A Debian of its own for the commands of the guide: a root folder in namespaces of its own, with a stand-in for systemd.

Nothing of it is left when the process ends that made it, and nothing of this machine is changed. Only root can make one.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

CHECKOUT: Final = Path(__file__).parents[2]
GUIDE: Final = CHECKOUT / "docs" / "how-to" / "run-on-one-machine.md"
STANDALONE_GUIDE: Final = CHECKOUT / "docs" / "how-to" / "run-everything-in-one.md"
HOST: Final = "chat.localhost"
"""For a name like this Caddy makes a certificate by itself, without asking anybody."""
OWNER: Final = "ines@example.com"
MOST_COMMANDS: Final = 5
CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
AUTHORITY: Final = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"

_OVERLAY = """\
mount -t tmpfs tmpfs {place}
mkdir {place}/upper {place}/work {place}/whole
mount -t overlay overlay -o lowerdir=/,upperdir={place}/upper,workdir={place}/work {place}/whole
mkdir {place}/whole/srv/checkout
mount --bind {checkout} {place}/whole/srv/checkout
"""
_ENTER = """\
root={root}
mount --rbind $root $root # units have file systems of their own: / must be a place where one is mounted
if [ "{network}" = own ]; then ip link set lo up; fi
mount -t proc proc $root/proc
mount --rbind /dev $root/dev
mount -t tmpfs tmpfs $root/run
install -D -m 644 {here}/systemctl.py $root/usr/local/lib/stand-in/systemctl.py
install -D -m 644 {here}/first_message.py $root/usr/local/lib/stand-in/first_message.py
printf '#!/bin/sh\\nexec /usr/bin/python3 /usr/local/lib/stand-in/systemctl.py "$@"\\n' >$root/usr/local/bin/systemctl
chmod 755 $root/usr/local/bin/systemctl
echo "127.0.0.1 localhost {host}" >>$root/etc/hosts
cat >$root/commands
exec env -i {environment} PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \\
  DEBIAN_FRONTEND=noninteractive chroot $root bash -euo pipefail /commands
"""


def make_base(root: Path, suite: str, mirror: str | None, *packages: str) -> None:
    """A bare Debian, as its own installer leaves it, as far as it matters here. It trusts whom this machine trusts: a proxy may
    stand between; and dpkg does not wait for the disk after each file: what is lost with the power is made anew."""
    if mirror is None:
        known = subprocess.check_output(["apt-get", "indextargets", "--format", "$(REPO_URI)"], text=True)
        mirror = known.splitlines()[0]
    include = f"--include={','.join(('ca-certificates', *packages))}"
    command = ["debootstrap", "--variant=minbase", include, suite, str(root), mirror]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(CERTIFICATES, root / str(CERTIFICATES).lstrip("/"))
    (root / "etc" / "pip.conf").write_text(f"[global]\ncert = {CERTIFICATES}\ndefault-timeout = 180\n")
    (root / "root" / ".npmrc").write_text(f"cafile={CERTIFICATES}\n")
    (root / "etc" / "dpkg" / "dpkg.cfg.d" / "quick").write_text("force-unsafe-io\n")


class Said(NamedTuple):
    """What came of commands."""

    code: int
    text: str


def commands_of_guide(guide: Path = GUIDE) -> list[str]:
    """Those of the first `sh` block under "Five commands", one each; for a host of our own."""
    found = re.search(r"^## Five commands$.*?^```sh\n(.*?)^```", guide.read_text(), re.DOTALL | re.MULTILINE)
    assert found, "the guide has no block of commands"
    lines = [line for line in found[1].replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    return [line.replace("chat.example.com", HOST) for line in lines]


def run_in_overlay(place: Path, commands: list[str]) -> Said:
    """On a copy of this machine's own root, which has no network but its own loopback."""
    place.mkdir(exist_ok=True)
    script = _OVERLAY.format(place=place, checkout=CHECKOUT)
    return _run(script, place / "whole", commands, {}, has_network=False)


def run_in_folder(root: Path, commands: list[str], environment: dict[str, str], *, has_network: bool) -> Said:
    """In a root of its own; with this machine's network, or with nothing but a loopback."""
    return _run("", root, commands, environment, has_network=has_network)


def _run(prepare: str, root: Path, commands: list[str], environment: dict[str, str], *, has_network: bool) -> Said:
    words = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
    network = "machine's" if has_network else "own"
    enter = _ENTER.format(root=root, here=Path(__file__).parent, host=HOST, environment=words, network=network)
    unshare = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", *([] if has_network else ["--net"])]
    done = subprocess.run(
        [*unshare, "bash", "-euc", prepare + enter],
        input="\n".join(commands) + "\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Said(done.returncode, done.stdout)
