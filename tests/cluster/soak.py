"""Rounds of faults on a cluster, each with people at work and a check of everything at its end:

    bin/soak --cluster --rounds 50 --seed 5
    bin/soak --cluster --fault kill-nats-leader --times 5
    bin/soak --cluster --patroni --rounds 20

A round is a fresh realm and one fault, sometimes two in a row. The seed repeats the choices, not the timing. A violation is
printed with the seed of its round, and the logs stay; the run goes on and ends with code 1.
"""

import argparse
import os
import random
import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from tests.cluster.faults import ANYWHERE, FAULTS, OF_PAIR, OF_PATRONI
from tests.cluster.load import Load, Outage
from tests.cluster.scene import NotHere, Scene
from tests.cluster.topology import Cluster

KINDS = {
    "reordered": ("came after", "out of order"),
    "doubled": ("twice", "more than once", "times", "changes nothing", "was not unread"),
}
"""Words of the checkers that tell what went wrong; anything else was lost, or is untrue."""


@dataclass
class Tally:
    """One line of the table."""

    outages: list[Outage] = field(default_factory=list)
    dead: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def line(self, name: str) -> str:
        worst = [max((getattr(one, what) for one in self.outages), default=0.0) for what in Outage._fields]
        numbers = " ".join(f"{seconds:8.1f}" for seconds in worst)
        wrong = " ".join(f"{self.found.get(kind, 0):6d}" for kind in ("lost", "doubled", "reordered"))
        return f"{name:24} {len(self.outages):5d} {numbers} {wrong} {self.dead:6d}"


HEAD = f"{'fault':24} {'times':>5} {'sends':>8} {'client':>8} {'events':>8} {'lost':>6} {'doubl.':>6} {'reord.':>6} {'dead q':>6}"


class Soak:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.tallies: dict[str, Tally] = {}
        self.violations: list[str] = []
        self.skipped: dict[str, str] = {}

    def round(self, names: Sequence[str], seed: int) -> None:
        """These faults in turn, then the check."""
        began = time.monotonic()
        chance = random.Random(seed)
        done: list[tuple[str, Outage]] = []
        load = Load(self.cluster, seed)
        try:
            with load:
                for name in names:
                    if (outage := self._strike(name, load, chance)) is not None:
                        done.append((name, outage))
        except Exception as error:  # whatever it is, it has to be looked at, and the other faults still tell something
            self._note(names, seed, error)
        for name, outage in done:
            self.tallies.setdefault(name, Tally()).outages.append(outage)
        if done:
            self.tallies[done[-1][0]].dead += load.people.dead_queues
        load1 = os.getloadavg()[0]
        for name, outage in done:
            took = time.monotonic() - began
            print(f"{time.strftime('%H:%M:%S')} {name}: {outage}; {took:.0f} s, load {load1:.0f}", flush=True)
        print(f"         {load.people.summary}; {load.people.dead_queues} queues died", flush=True)

    def _strike(self, name: str, load: Load, chance: random.Random) -> Outage | None:
        load.progress(10)
        scene = Scene(self.cluster, load, chance)
        try:
            FAULTS[name](scene)
        except NotHere as error:
            self.skipped[name] = str(error)
            return None
        outage = scene.outage()
        if ended := self.cluster.mend():
            print(f"         ended by themselves, or not brought back: {', '.join(ended)}", flush=True)
        return outage

    def _note(self, names: Sequence[str], seed: int, error: BaseException) -> None:
        text = str(error)
        kind = next((kind for kind, words in KINDS.items() if any(word in text for word in words)), "lost")
        tally = self.tallies.setdefault(names[-1], Tally())
        tally.found[kind] = tally.found.get(kind, 0) + 1
        flags = " --patroni" if self.cluster.has_patroni else ""
        again = f"bin/soak --cluster{flags} --fault {','.join(names)} --seed {seed}"
        self.violations.append(f"{kind}: {again}: {text.splitlines()[0][:200]}")
        print(f"VIOLATION ({kind}), again with: {again}", flush=True)
        traceback.print_exception(error)
        sys.stderr.flush()
        self.cluster.mend()

    def report(self) -> None:
        print(f"\nseconds are the worst; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end\n{HEAD}")
        for name, tally in sorted(self.tallies.items()):
            print(tally.line(name))
        for name, reason in self.skipped.items():
            print(f"skipped {name}: {reason}")
        for line in self.violations:
            print(line)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bin/soak --cluster", description="Hurt a cluster and check everything.")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument(
        "--fault", help="this one instead of random ones; several with commas between them in one round"
    )
    parser.add_argument(
        "--each", nargs="?", const=",".join(FAULTS), help="every fault, or these, in rounds of their own"
    )
    parser.add_argument("--times", type=int, default=1, help="how often, with --fault or --each")
    parser.add_argument("--patroni", action="store_true", help="PostgreSQL under Patroni and etcd")
    chosen = parser.parse_args(words)
    folder = Path(mkdtemp(prefix="tertulia-cluster-"))
    print(f"seed {chosen.seed}, data and logs in {folder}", flush=True)
    began = time.monotonic()
    with Cluster(folder, patroni=chosen.patroni) as cluster:
        print(f"the cluster is up after {time.monotonic() - began:.0f} s", flush=True)
        soak = Soak(cluster)
        try:
            for names, seed in _plan(chosen):
                soak.round(names, seed)
        finally:
            soak.report()
    if not soak.violations:
        shutil.rmtree(folder)
    return 1 if soak.violations else 0


def _plan(chosen: argparse.Namespace) -> list[tuple[list[str], int]]:
    """The faults of each round, and its seed."""
    if chosen.each:
        return [([name], chosen.seed + turn) for turn in range(chosen.times) for name in chosen.each.split(",")]
    if chosen.fault:
        return [(chosen.fault.split(","), chosen.seed + turn) for turn in range(chosen.times)]
    plan, possible = [], sorted(ANYWHERE | (OF_PATRONI if chosen.patroni else OF_PAIR))
    for turn in range(chosen.rounds):
        chance = random.Random(chosen.seed + turn)
        plan.append((chance.sample(possible, 1 if chance.random() < 0.7 else 2), chosen.seed + turn))
    return plan


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
