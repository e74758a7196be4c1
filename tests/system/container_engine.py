"""A stand-in for `docker compose`, where there is no Docker and no registry: each service of a compose file in namespaces and on
a root of its own, with the command, account, environment, files and networks that the file gives it.

Kept to: entry point and command, user, environment, volumes (a new one takes the owner of what it covers), secrets, tmpfs, a
root that is read-only, no capabilities but those that are added, no-new-privileges, a process table of its own, one network
interface for each network, sysctls, the number of files, dependencies with their conditions, health checks. Not kept to:
cgroups, the engine's filter of system calls, restarts, logging, ports of this machine (who is outside calls the container).

Only root can be one, in namespaces of its own (`unshare --mount --net --pid`): with it ends everything it started.
"""

import ipaddress
import os
import resource
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.system.compose_file import ComposeFile, Service

PATIENCE: Final = 180.0
PAUSE: Final = 0.5

_SCRIPT = """\
mount --make-rprivate /
mount -t overlay overlay -o lowerdir={lower},upperdir={place}/upper,workdir={place}/work {root}
mkdir -p {root}/run/secrets {root}/dev {root}/proc
printf '%s' {hosts} >{root}/etc/hosts
mount --rbind /dev {root}/dev
{mounts}
{sysctls}
mount -o remount,ro {root}
ip link set lo up
echo ready >&{ready}
exec {ready}>&-
read -r
mount -t proc proc {root}/proc
ulimit -n {files}
exec {command}
"""


@dataclass(frozen=True)
class Image:
    """A root, made of folders of which the first hides what is in the others, and what is said with it."""

    layers: tuple[Path, ...]
    environment: dict[str, str]
    entrypoint: list[str] = field(default_factory=list)
    folder: str = "/"
    stop_signal: int = signal.SIGTERM

    def home_of(self, user: str) -> str:
        """As engines set it: `/` for an account that the image does not know."""
        accounts = next(file for layer in self.layers if (file := layer / "etc" / "passwd").exists()).read_text()
        return {fields[2]: fields[5] for fields in (line.split(":") for line in accounts.splitlines())}.get(user, "/")

    def find_folder(self, path: str) -> Path | None:
        return next((found for layer in self.layers if (found := layer / path.lstrip("/")).is_dir()), None)


@dataclass
class Running:
    """A container."""

    service: Service
    process: subprocess.Popen[str]
    root: Path
    inner: int = 0


class Engine:
    """Containers of one compose file."""

    def __init__(self, place: Path, folder: Path, file: ComposeFile, images: dict[str, Image]) -> None:
        self._place, self._folder, self._file, self._images = place, folder, file, images
        self._count = 0
        self.running: dict[str, Running] = {}
        self._addresses = self._make_networks()

    def up(self) -> None:
        """`docker compose up --detach --wait`: all that are not run by hand, each after those that it needs."""
        for service in self._file.services.values():
            if not service.is_by_hand and "service_completed_successfully" not in self._wanted_of(service.name):
                self._satisfy(service.name, "service_healthy" if service.question else "service_started")
        time.sleep(PAUSE)
        for name, running in self.running.items():
            assert running.process.poll() is None, f"{name} ended: {self.log_of(name)}"

    def run(self, name: str, arguments: list[str] | None = None, volume: str = "", *, has_needs: bool = True) -> str:
        """`docker compose run --rm`: to its end; what it printed. Commands take the place of the service's own."""
        service = self._file.services[name]
        if volume:
            service = Service(name, service.said | {"volumes": [*service.said["volumes"], volume]})
        for needed, condition in service.conditions.items() if has_needs else ():
            self._satisfy(needed, condition)
        running = self._start(service, arguments, capture=True)
        told, _ = running.process.communicate("\n", timeout=PATIENCE)
        code = running.process.returncode
        assert code == 0, f"{name} ended with {code}, after {told!r}: {self.log_of(name)}"
        return told

    def execute(self, name: str, command: list[str]) -> subprocess.CompletedProcess[str]:
        """`docker compose exec`: in a container that runs."""
        running = self.running[name]
        enter = ["nsenter", "--target", str(running.inner), "--mount", "--net", "--pid", "--ipc", "--uts", "--"]
        whole = [*enter, *self._confined(running.service, command, running.root)]
        return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=PATIENCE)

    def stop(self, name: str) -> float:
        """As the engine stops it; how long it took."""
        running, began = self.running.pop(name), time.monotonic()
        os.kill(running.inner, self._images[running.service.said["image"]].stop_signal)
        running.process.wait(timeout=60)
        return time.monotonic() - began

    def log_of(self, name: str) -> str:
        file = self._place / "logs" / name
        return file.read_text()[-3000:] if file.exists() else ""

    def address_of(self, name: str, network: str) -> str:
        return self._addresses[name][network]

    def volume(self, name: str) -> Path:
        return self._place / "volumes" / name

    def _wanted_of(self, name: str) -> set[str]:
        return {each.conditions[name] for each in self._file.services.values() if name in each.conditions}

    def _satisfy(self, name: str, condition: str) -> None:
        service = self._file.services[name]
        if condition == "service_completed_successfully":
            if not (self._place / "done" / name).exists():
                self.run(name)
                (self._place / "done").mkdir(exist_ok=True)
                (self._place / "done" / name).touch()
            return
        if name not in self.running:
            for needed, wanted in service.conditions.items():
                self._satisfy(needed, wanted)
            self.running[name] = self._start(service)
            self._let_go(self.running[name])
        if condition == "service_healthy" and service.question is not None:
            self._wait_for(name, service.question)

    def _wait_for(self, name: str, question: list[str]) -> None:
        until = time.monotonic() + PATIENCE
        while (answer := self.execute(name, question)).returncode:
            assert self.running[name].process.poll() is None, f"{name} ended: {self.log_of(name)}"
            assert time.monotonic() < until, f"{name} is not well: {answer.stderr} {self.log_of(name)}"
            time.sleep(PAUSE)

    def _start(self, service: Service, arguments: list[str] | None = None, *, capture: bool = False) -> Running:
        """Everything is there but its process."""
        image = self._images[service.said["image"]]
        self._count += 1
        place = self._place / "containers" / f"{service.name}-{self._count}"
        root = place / "root"
        for folder in ("upper", "work", "root"):
            (place / folder).mkdir(parents=True)
        (self._place / "logs").mkdir(exist_ok=True)
        command = [*service.said.get("entrypoint", image.entrypoint), *(arguments or service.said["command"])]
        reading, ready = os.pipe()
        script = _SCRIPT.format(
            ready=ready,
            lower=":".join(map(str, image.layers)),
            place=place,
            root=root,
            hosts=shlex.quote(self._hosts_of(service)),
            mounts="\n".join(self._mounts_of(service, image, root)),
            sysctls="\n".join(f"sysctl -qw {key}={value}" for key, value in service.said.get("sysctls", {}).items()),
            files=min(
                service.said.get("ulimits", {}).get("nofile", 1024), resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            ),
            command=shlex.join(self._confined(service, command, root)),
        )
        unshare = ["unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
        with (self._place / "logs" / service.name).open("a") as log, os.fdopen(reading) as is_ready:
            process = subprocess.Popen(
                [*unshare, "bash", "-euc", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if capture else log,
                stderr=log,
                pass_fds=(ready,),
                text=True,
            )
            os.close(ready)
            assert is_ready.readline() == "ready\n", f"{service.name}: {self.log_of(service.name)}"
        running = Running(service, process, root)
        running.inner = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        self._attach(running)
        return running

    def _let_go(self, running: Running) -> None:
        assert running.process.stdin is not None
        running.process.stdin.write("\n")
        running.process.stdin.close()

    def _confined(self, service: Service, command: list[str], root: Path) -> list[str]:
        image = self._images[service.said["image"]]
        user, _, group = service.said["user"].partition(":")
        bounds = ",".join(["-all", *(f"+{name.lower()}" for name in service.said.get("cap_add", []))])
        variables = {"HOME": image.home_of(user)} | image.environment | service.environment
        environment = ["env", "-i", f"--chdir={image.folder}", *(f"{key}={value}" for key, value in variables.items())]
        account = [
            f"--reuid={user}",
            f"--regid={group}",
            "--clear-groups",
            f"--bounding-set={bounds}",
            "--inh-caps=-all",
        ]
        privileges = ["--no-new-privs"] if "no-new-privileges:true" in service.said["security_opt"] else []
        return ["chroot", str(root), "/usr/bin/setpriv", *account, *privileges, *environment, *command]

    def _mounts_of(self, service: Service, image: Image, root: Path) -> list[str]:
        lines = []
        for path in service.said.get("tmpfs", []):
            lines += [f"mkdir -p {root}{path}", f"mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs {root}{path}"]
        for source, target in service.mounts:
            if source.startswith("./"):
                lines += self._bind_file(self._folder / source, root, target)
            else:
                self._make_volume(source, image.find_folder(target))
                lines += [f"mkdir -p {root}{target}", f"mount --bind {self.volume(source)} {root}{target}"]
        for name in service.said.get("secrets", []):
            lines += self._bind_file(self._folder / self._file.secrets[name], root, f"/run/secrets/{name}")
        return lines

    def _bind_file(self, source: Path, root: Path, target: str) -> list[str]:
        where = f"{root}{target}"
        make = [f"mkdir -p {Path(where).parent}", f"touch {where}"]
        return [*make, f"mount --bind {source} {where}", f"mount -o remount,bind,ro {where}"]

    def _make_volume(self, name: str, covered: Path | None) -> None:
        volume = self.volume(name)
        if volume.exists():
            return
        volume.parent.mkdir(exist_ok=True)
        if covered is not None:
            subprocess.run(["cp", "--archive", str(covered), str(volume)], check=True)
        else:
            volume.mkdir(mode=0o755)

    def _make_networks(self) -> dict[str, dict[str, str]]:
        """A bridge for each, and an address in it for each service."""
        addresses: dict[str, dict[str, str]] = {name: {} for name in self._file.services}
        self._prefixes: dict[str, int] = {}
        for number, (name, said) in enumerate(self._file.networks.items()):
            given = said.get("ipam", {}).get("config", [{}])[0].get("subnet", f"10.99.{number}.0/24")
            subnet = ipaddress.ip_network(given)
            self._prefixes[name] = subnet.prefixlen
            gateway, *free = (str(host) for host in subnet.hosts())
            _ip("link", "add", f"br-{name}", "type", "bridge")
            _ip("address", "add", f"{gateway}/{subnet.prefixlen}", "dev", f"br-{name}")
            _ip("link", "set", f"br-{name}", "up")
            members = {each.name: each.networks[name] for each in self._file.services.values() if name in each.networks}
            fixed = {member: said["ipv4_address"] for member, said in members.items() if "ipv4_address" in said}
            rest = [address for address in free if address not in fixed.values()]
            for member in members:
                addresses[member][name] = fixed.get(member) or rest.pop(0)
        return addresses

    def _attach(self, running: Running) -> None:
        for number, network in enumerate(running.service.networks):
            ours = f"v{self._count}-{number}"
            _ip("link", "add", ours, "type", "veth", "peer", "name", f"eth{number}", "netns", str(running.inner))
            _ip("link", "set", ours, "master", f"br-{network}", "up")
            inside = ["nsenter", "--target", str(running.inner), "--net", "ip"]
            address = f"{self._addresses[running.service.name][network]}/{self._prefixes[network]}"
            subprocess.run([*inside, "address", "add", address, "dev", f"eth{number}"], check=True)
            subprocess.run([*inside, "link", "set", f"eth{number}", "up"], check=True)

    def _hosts_of(self, service: Service) -> str:
        """Whom it can call by name: those of its networks."""
        lines = ["127.0.0.1 localhost"]
        for network in service.networks:
            lines += [f"{found[network]} {name}" for name, found in self._addresses.items() if network in found]
        return "\n".join(lines) + "\n"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
