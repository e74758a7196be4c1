"""A cluster to play with, for people:

    bin/cluster                          start it; then type the name of a fault, or its number
    bin/cluster --patroni                the same with Patroni and etcd
    bin/cluster fault kill-nats-leader   from another terminal
    bin/cluster list                     the faults

People are at work on it all the time, so that each fault shows how long they had to wait. Ctrl-C ends everything.
"""

import argparse
import os
import random
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir

from tests.cluster.faults import FAULTS, NotHere, Scene
from tests.cluster.load import Load
from tests.cluster.nats_node import NatsNode
from tests.cluster.topology import Cluster, Member

FOLDER = Path(gettempdir()) / f"tertulia-cluster-of-{os.getuid()}"
CONTROL = FOLDER / "control"
OWNER = "owner@example.com"
PASSWORD = "play with the cluster"


class Play:
    """One cluster, one load, and whoever gives commands."""

    def __init__(self, cluster: Cluster, load: Load) -> None:
        self.cluster = cluster
        self.load = load
        self.chance = random.Random()

    def do(self, words: str) -> str:
        """What came of a command."""
        words = words.strip()
        if words.isdigit() and 0 < int(words) <= len(FAULTS):
            words = list(FAULTS)[int(words) - 1]
        if words == "status":
            return self._status()
        if words not in FAULTS:
            return menu()
        print(f"{words} ...", flush=True)
        scene = Scene(self.cluster, self.load, self.chance)
        try:
            FAULTS[words](scene)
            outage = scene.outage()
            self.cluster.mend()
        except NotHere as error:
            return f"{words}: not here: {error}"
        dead = self.load.people.dead_queues
        return f"{words}: {outage}; queues that had to begin anew so far: {dead}"

    def _status(self) -> str:
        parts: list[NatsNode | Member] = [*self.cluster.nats, *self.cluster.members]
        lines = [f"{_name_of(part):10} {'ready' if part.is_ready() else 'NOT READY'}" for part in parts]
        lines.append(f"relay at work: {self.cluster.active_relay().name}")
        lines.append(f"NATS node that leads: {self.cluster.leader_of_events(self.load.shard).name}")
        return "\n".join([*lines, self.load.people.summary])


def _name_of(part: object) -> str:
    name = str(getattr(part, "name", ""))
    return f"nats {name}" if name.startswith("n") and name[1:].isdigit() else name


def menu() -> str:
    numbered = [f"{number:3} {name:24} {_first_line(fault)}" for number, (name, fault) in enumerate(FAULTS.items(), 1)]
    return "\n".join(["Type a number or a name, or `status`:", *numbered])


def _first_line(fault: object) -> str:
    return (fault.__doc__ or "").strip().split("\n")[0]


def start(*, patroni: bool) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(mode=0o711)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"Starting a cluster in {FOLDER}; this takes about a minute ...", flush=True)
    with Cluster(FOLDER, patroni=patroni) as cluster:
        cluster.run("realm", "create", "Cluster")
        words = ("user", "create", OWNER, "--name", "Owner", "--role", "owner")
        cluster.run(*words, TERTULIA_USER_PASSWORD=PASSWORD)
        _introduce(cluster)
        with Load(cluster, random.randrange(10**6), pause=0.15) as load, _listening() as control:
            try:
                _obey(Play(cluster, load), control)
            except KeyboardInterrupt:
                print("\nChecking that nothing was lost, and stopping everything ...", flush=True)
        print(f"All is there: {load.people.summary}")


def _introduce(cluster: Cluster) -> None:
    print(f"For clients (HAProxy):   http://localhost:{cluster.local_port}, {OWNER}, password: {PASSWORD}")
    for part in cluster.members:
        print(f"{part.name + ':':24} {part.metrics}/metrics, log {part.log}")
    for node in cluster.nats:
        print(f"{_name_of(node) + ':':24} {node.monitor}, log {node.log}")
    print(f"PostgreSQL's primary:    {cluster.postgres_url}")
    print(menu(), flush=True)


def _listening() -> socket.socket:
    control = socket.socket(socket.AF_UNIX)
    control.bind(str(CONTROL))
    CONTROL.chmod(0o600)
    control.listen()
    return control


def _obey(play: Play, control: socket.socket) -> None:
    sources = [control, *([sys.stdin] if sys.stdin.isatty() else [])]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if control in ready:
            connection, _ = control.accept()
            with connection:
                said = play.do(connection.recv(1000).decode())
                connection.sendall(said.encode())
                print(said, flush=True)
        elif ready:
            line = sys.stdin.readline()
            if not line:
                raise KeyboardInterrupt
            print(play.do(line), flush=True)


def ask(words: str) -> str:
    """The answer of the cluster that runs."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(CONTROL))
        except OSError:
            sys.exit("No cluster runs here: start one with bin/cluster.")
        connection.sendall(words.encode())
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts).decode()


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="bin/cluster", description="A cluster to play with, on this machine.")
    parser.add_argument("command", nargs="?", choices=["start", "fault", "status", "list"], default="start")
    parser.add_argument("name", nargs="?", help="of the fault")
    parser.add_argument("--patroni", action="store_true", help="PostgreSQL under Patroni and etcd")
    chosen = parser.parse_args(words)
    match chosen.command:
        case "start":
            start(patroni=chosen.patroni)
        case "list":
            print(menu())
        case "status":
            print(ask("status"))
        case "fault":
            began = time.monotonic()
            print(ask(chosen.name or ""))
            print(f"({time.monotonic() - began:.0f} s)")


if __name__ == "__main__":
    main(sys.argv[1:])
