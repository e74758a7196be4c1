"""What only root can set up: accounts, systemd's units, and the site of a proxy that is installed."""

import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tertulia.cli.errors import CommandFailed
from tertulia.cli.init.saying import say
from tertulia.cli.init.shipped import shipped
from tertulia.engines.account import Account, find_barrier

ACCOUNT: Final = "tertulia"
NATS_ACCOUNT: Final = "tertulia-nats"
UNITS: Final = Path("/etc/systemd/system")
NATS_UNIT: Final = "tertulia-nats.service"
TARGET: Final = "tertulia.target"
STANDALONE: Final = ("tertulia.socket", "tertulia.service")
"""Everything in one (deploy/standalone)."""
SERVICES: Final = (
    TARGET,
    "tertulia-web.socket",
    "tertulia-web.service",
    "tertulia-relay.service",
    "tertulia-worker.service",
    "tertulia-.service.d/hardening.conf",
)
_CADDY = Path("/etc/caddy")
_NGINX = Path("/etc/nginx")


class System:
    """This machine, as a server for one host."""

    def __init__(self, folder: Path, host: str, *, standalone: bool = False) -> None:
        self._folder, self._host, self._standalone = folder, host, standalone

    def make_accounts(self) -> None:
        """For the server and for NATS. Both must be able to reach the program."""
        for name in (ACCOUNT,) if self._standalone else (ACCOUNT, NATS_ACCOUNT):
            try:
                pwd.getpwnam(name)
            except KeyError:
                home = f"/var/lib/{name}"
                add = ["useradd", "--system", "--user-group", "--home-dir", home, "--shell", "/usr/sbin/nologin", name]
                done = subprocess.run(add, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise CommandFailed(f"The account {name} cannot be made: {done.stderr.strip()}") from None
                say(f"made the account {name}")
        found = pwd.getpwnam(ACCOUNT)
        for program in (Path(sys.prefix) / "bin", Path(sys.executable).resolve()):
            if barrier := find_barrier(program, Account(ACCOUNT, found.pw_uid, found.pw_gid)):
                raise CommandFailed(
                    f"The account {ACCOUNT} cannot run {program}: {barrier} is closed to it. Install into /opt/tertulia."
                )

    def install(self, *, has_own_nats: bool, must_restart: bool) -> list[str]:
        """Units and site; what is to be done next."""
        kit = "standalone" if self._standalone else "debian"
        names = STANDALONE if self._standalone else (*SERVICES, *([NATS_UNIT] if has_own_nats else []))
        for name in names:
            self._place(UNITS / name, shipped(name, kit).read_text())
        if Path("/run/systemd/system").is_dir():
            subprocess.run(["systemctl", "daemon-reload"], check=False)
        begun = [*STANDALONE] if self._standalone else [TARGET]
        if shutil.which("systemctl"):
            subprocess.run(["systemctl", "--quiet", "enable", *begun], check=False)
        else:
            say(f"no systemd here: the units wait in {UNITS}; without them, start what their ExecStart= says")
        restarted = (["postgresql"] if must_restart else []) + (["tertulia"] if self._standalone else begun)
        if _CADDY.is_dir():
            self._add_to_caddy()
            restarted.append("caddy")
        elif _NGINX.is_dir():
            return self._add_to_nginx(restarted)
        else:
            say("no proxy is installed here: put one in front of port 9991 (docs/how-to/run-on-one-machine.md)")
        return [f"systemctl restart {' '.join(restarted)}"]

    def _add_to_caddy(self) -> None:
        self._place(_CADDY / "tertulia.caddy", shipped("tertulia.caddy").read_text())
        file, line = _CADDY / "Caddyfile", "import tertulia.caddy"
        text = file.read_text() if file.exists() else ""
        if line not in text.splitlines():
            file.write_text(f"{text.rstrip()}\n\n{line}\n".lstrip())
            say(f"added {line!r} to {file}")

    def _add_to_nginx(self, restarted: list[str]) -> list[str]:
        """It has no certificate by itself, and does not start with a site whose certificate is not there."""
        site = _NGINX / "sites-available" / "tertulia"
        self._place(site, shipped("nginx.conf").read_text())
        certificate, link = Path(f"/etc/ssl/{self._host}.pem"), _NGINX / "sites-enabled" / "tertulia"
        steps = []
        if not certificate.exists():
            steps.append(f"put a certificate into {certificate}, and its key into {certificate.with_suffix('.key')}")
        if not link.exists():
            steps.append(f"ln -s {site} {link}")
        return [*steps, f"systemctl restart {' '.join([*restarted, 'nginx'])}"]

    def _place(self, path: Path, text: str) -> None:
        """A file as it is shipped, with the places of this machine; one that is there stays."""
        text = text.replace("/opt/tertulia", sys.prefix).replace("/etc/tertulia", str(self._folder))
        text = text.replace("chat.example.com", self._host)
        if not path.exists():
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o644)  # whatever root's umask is: systemd's and Caddy's accounts read it
            say(f"wrote {path}")
        elif path.read_text() != text:
            say(f"kept {path}, which is not as this version would write it")
