"""What can happen to a cluster: one function for each fault, all in the table FAULTS.

A fault is called while people are at work (load.py), with a Scene. It may prepare something first; `scene.begin()` is when it
strikes, and when the time of the outage begins. When it returns, whatever it promised to bring back is back, or `Cluster.mend`
will do it. Whatever does not fit the cluster's form of PostgreSQL, or needs more rights than we have, is skipped with a reason.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg2

from tests.cluster.disks import SmallDisk
from tests.cluster.nats_node import ROUTE, NatsNode
from tests.cluster.network import Link
from tests.cluster.patroni import PatroniTrio
from tests.cluster.postgres_pair import PORT, PostgresNode, PostgresPair
from tests.cluster.scene import NotHere, Scene
from tests.cluster.surroundings import files_away, jump_clocks, silent_store
from tests.cluster.topology import Member

Fault = Callable[[Scene], None]


# Processes of Tertulia


def kill_web(scene: Scene) -> None:
    web = scene.web()
    web.kill()
    time.sleep(3)
    web.start()


def kill_all_webs(scene: Scene) -> None:
    for web in scene.cluster.webs:
        web.kill()
    for web in scene.cluster.webs:
        web.start()


def pause_web(scene: Scene) -> None:
    _pause(scene.web(), 12)


def kill_relay(scene: Scene) -> None:
    relay = scene.cluster.active_relay()
    scene.begin()
    relay.kill()
    time.sleep(3)
    relay.start()


def pause_relay(scene: Scene) -> None:
    """Longer than its slot waits for it: another one takes over, then the first wakes up and wants to go on."""
    relay = scene.cluster.active_relay()
    scene.begin()
    _pause(relay, 15)


def kill_workers(scene: Scene) -> None:
    for _ in range(4):
        for worker in scene.cluster.workers:
            worker.kill()
        time.sleep(scene.chance.uniform(0.2, 1.5))
        for worker in scene.cluster.workers:
            worker.start()
        time.sleep(scene.chance.uniform(1, 4))


def rolling_restart(scene: Scene) -> None:
    """Everything of ours and NATS in turn, as in an update."""
    for member in scene.cluster.members:
        member.stop(signal.SIGTERM, 30)
        member.start()
        _await(member.is_ready)
    for node in scene.cluster.nats:
        node.end_gently()
        node.start()
        _await(node.is_ready)
        _await(node.is_caught_up)


# NATS


def kill_nats_node(scene: Scene) -> None:
    """One that does not lead our stream: nothing has to be elected for it."""
    node = scene.follower()
    scene.begin()
    node.kill()
    time.sleep(8)
    node.start()


def kill_nats_leader(scene: Scene) -> None:
    node = scene.leader()
    scene.begin()
    node.kill()
    time.sleep(12)
    node.start()


def kill_all_nats(scene: Scene) -> None:
    for node in scene.cluster.nats:
        node.kill()
    time.sleep(1)
    for node in scene.cluster.nats:
        node.start()


def pause_nats_leader(scene: Scene) -> None:
    node = scene.leader()
    scene.begin()
    _pause(node, 14)


def wipe_nats_node(scene: Scene) -> None:
    """Its disk is empty when it comes back; the others fill it."""
    node = scene.chance.choice(scene.cluster.nats)
    node.kill()
    node.wipe()
    time.sleep(2)
    node.start()
    _await(node.is_ready)


def nats_disk_full(scene: Scene) -> None:
    node = scene.leader()
    disk = _small_disk(scene, 96)
    node.end_gently()
    disk.take(node.store)
    node.start()
    _await(node.is_ready)
    _await(node.is_caught_up)
    scene.begin()
    disk.fill()
    time.sleep(15)
    disk.empty()
    node.end_gently()  # room alone does not bring JetStream back
    disk.give_back()
    node.start()


def lagging_replica(scene: Scene) -> None:
    """A follower hears the leader with interruptions that are too short for an election, while queues that are far behind are
    read from whoever answers: a web process has been started anew and remembers nothing."""
    node = scene.follower()
    links = _between(scene, node)
    for listener in scene.load.people.listeners[::2]:
        listener.asleep_until = time.monotonic() + 8
    scene.begin()
    for turn in range(5):
        scene.cluster.network.freeze(links)
        if turn in (1, 3):
            web = scene.web()
            web.kill()
            web.start()
        time.sleep(2.5)
        scene.cluster.network.thaw(links)
        time.sleep(0.5)


def cut_off_nats_leader(scene: Scene) -> None:
    """The leader reaches its clients and not the other two: it must not answer for them."""
    node = scene.leader()
    links = _between(scene, node)
    scene.begin()
    scene.cluster.network.freeze(links)
    time.sleep(20)
    scene.cluster.network.thaw(links)


def deafen_nats_leader(scene: Scene) -> None:
    """Asymmetric: the others hear the leader, and it does not hear them."""
    node, network = scene.leader(), scene.cluster.network
    scene.begin()
    network.freeze(network.links(target=node.number, port=ROUTE), "there")
    network.freeze(network.links(source=node.number, port=ROUTE), "back")
    time.sleep(20)
    network.thaw(_between(scene, node))


# The relay's ways


def deafen_relay(scene: Scene) -> None:
    """Asymmetric: what it sends arrives in NATS, and it hears no answer."""
    relay = scene.cluster.active_relay()
    links = scene.cluster.links_to_nats(relay.machine)
    scene.begin()
    scene.cluster.network.freeze(links, "back")
    time.sleep(15)
    scene.cluster.network.thaw(links)


def split_relays(scene: Scene) -> None:
    """The relay at work loses NATS, the other one loses PostgreSQL; then they change places."""
    relay = scene.cluster.active_relay()
    [other] = [one for one in scene.cluster.relays if one is not relay]
    network = scene.cluster.network
    scene.begin()
    for first, second in ((relay, other), (other, relay)):
        lost = scene.cluster.links_to_nats(first.machine) + scene.cluster.links_to_postgres(second.machine)
        network.freeze(lost)
        time.sleep(6)
        network.thaw(lost)
        time.sleep(1)


# PostgreSQL


def cut_off_web(scene: Scene) -> None:
    """One web process does not reach PostgreSQL any more, and nobody says so."""
    links = scene.cluster.links_to_postgres(scene.web().machine)
    scene.cluster.network.silence(links)
    time.sleep(40)
    scene.cluster.network.thaw(links)


def reset_connections(scene: Scene) -> None:
    """All connections to both engines end at once."""
    for _ in range(3):
        scene.cluster.network.reset(scene.cluster.links_to_postgres() + scene.cluster.links_to_nats())
        time.sleep(1)


def slow_postgres(scene: Scene) -> None:
    """Each way takes 50 ms more."""
    links = scene.cluster.links_to_postgres()
    scene.cluster.network.delay(links, 0.05)
    time.sleep(15)
    scene.cluster.network.thaw(links)


def lock_row(scene: Scene) -> None:
    """Somebody locks a channel's row and forgets it. Nobody can write there; who writes elsewhere must not notice."""
    people = scene.load.people
    connection = psycopg2.connect(scene.cluster.postgres_url)
    with connection.cursor() as cursor:
        people.stuck_channel = people.busiest_channel
        cursor.execute("select from conversation where id = %s for update", [people.stuck_channel])
        scene.begin()
        time.sleep(25)
    connection.rollback()
    connection.close()
    people.stuck_channel = 0


def pause_primary(scene: Scene) -> None:
    """PostgreSQL stands still for ten seconds, and nobody is promoted."""
    node = _primary(scene)
    node.signal_all(signal.SIGSTOP)
    time.sleep(10)
    node.signal_all(signal.SIGCONT)


def kill_primary(scene: Scene) -> None:
    """And promote the standby three seconds later."""
    pair = _pair(scene)
    pair.await_slot()
    scene.begin()
    pair.primary.crash()
    time.sleep(3)
    pair.promote()
    scene.end()
    pair.rejoin()


def vanish_primary(scene: Scene) -> None:
    """The primary's machine is silent: no connection is closed, none refused. The standby is promoted."""
    pair, network = _pair(scene), scene.cluster.network
    pair.await_slot()
    links = network.links(target=pair.primary.number, port=PORT)
    scene.begin()
    network.silence(links)
    time.sleep(3)
    pair.promote()
    scene.end()
    pair.standby.crash()
    network.forget(links)
    pair.rejoin()


def two_primaries(scene: Scene) -> None:
    """The primary is paused, the standby promoted, and then the old one goes on as if nothing had been. Nothing fences it here
    but its synchronous standby, which is gone: no commit on it is ever answered."""
    pair = _pair(scene)
    pair.await_slot()
    scene.begin()
    pair.primary.signal_all(signal.SIGSTOP)
    time.sleep(3)
    pair.promote()
    pair.standby.signal_all(signal.SIGCONT)
    time.sleep(8)
    pair.standby.crash()
    scene.end()
    pair.rejoin()


def data_disk_full(scene: Scene) -> None:
    """People are refused until there is room; PostgreSQL lives."""
    with _disk_of_primary(scene, "base", 512) as (_, disk):
        disk.fill()
        time.sleep(12)
        disk.empty()


def wal_disk_full(scene: Scene) -> None:
    """PostgreSQL panics, and cannot start until there is room."""
    with _disk_of_primary(scene, "pg_wal", 320) as (node, disk):
        disk.fill()
        _await(lambda: _is_dead_after_a_new_segment(node), 60)
        disk.empty()
        node.start()


@contextmanager
def _disk_of_primary(scene: Scene, folder: str, mebibytes: int) -> Iterator[tuple[PostgresNode, SmallDisk]]:
    """A folder of the primary is on a small disk while the fault lasts; it begins inside, and is over at the end."""
    node = _primary(scene)
    disk = _small_disk(scene, mebibytes)
    node.stop()
    disk.take(node.cluster / folder)
    node.start()
    scene.load.progress(5)
    scene.begin()
    yield node, disk
    scene.end()
    node.stop()
    disk.give_back()
    node.start()


# PostgreSQL under Patroni


def patroni_kill_postgres(scene: Scene) -> None:
    """The primary's PostgreSQL dies, its Patroni lives and gives the key back at once."""
    trio = _trio(scene)
    trio.await_slot()
    node = trio.primary()
    scene.begin()
    node.crash_postgres()
    time.sleep(2)


def patroni_kill_machine(scene: Scene) -> None:
    """The primary's machine dies: nobody gives the key back, it has to run out."""
    trio = _trio(scene)
    trio.await_slot()
    node = trio.primary()
    scene.begin()
    node.crash()
    scene.end()
    node.start()


def patroni_pause_machine(scene: Scene) -> None:
    """The primary's machine stands still until another one is the primary, then goes on and believes in itself: two primaries,
    until Patroni sees the key in other hands. Its commits wait for a standby that follows somebody else."""
    trio = _trio(scene)
    trio.await_slot()
    node = trio.primary()
    scene.begin()
    node.pause()
    _await(lambda: any(one.is_primary() for one in trio.nodes if one is not node), 60)
    time.sleep(2)
    node.go_on()


def patroni_kill_standby(scene: Scene) -> None:
    """The synchronous standby dies: the other one takes its place."""
    trio = _trio(scene)
    node = trio.synchronous_standby()
    scene.begin()
    node.crash()
    scene.load.progress(20)
    node.start()


def etcd_away(scene: Scene) -> None:
    """All of etcd for half a minute. The primary goes on, as its two standbys answer it."""
    trio = _trio(scene)
    scene.begin()
    for etcd in trio.etcds:
        etcd.kill()
    time.sleep(30)
    for etcd in trio.etcds:
        etcd.start()


def _by_name(*faults: Fault) -> dict[str, Fault]:
    return {fault.__name__.replace("_", "-"): fault for fault in faults}


ANYWHERE = _by_name(
    *(kill_web, kill_all_webs, pause_web, kill_relay, pause_relay, kill_workers, rolling_restart),
    *(kill_nats_node, kill_nats_leader, kill_all_nats, pause_nats_leader, wipe_nats_node, nats_disk_full),
    *(lagging_replica, cut_off_nats_leader, deafen_nats_leader, deafen_relay, split_relays),
    *(cut_off_web, reset_connections, slow_postgres, lock_row),
    *(jump_clocks, files_away, silent_store),
)
OF_PAIR = _by_name(pause_primary, kill_primary, vanish_primary, two_primaries, data_disk_full, wal_disk_full)
OF_PATRONI = _by_name(
    patroni_kill_postgres, patroni_kill_machine, patroni_pause_machine, patroni_kill_standby, etcd_away
)
FAULTS = ANYWHERE | OF_PAIR | OF_PATRONI


def _pause(process: Member | NatsNode, seconds: float) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def _await(ask: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not ask():
        assert time.monotonic() < deadline, f"{ask} is not true after {seconds} s"
        time.sleep(0.1)


def _is_dead_after_a_new_segment(node: PostgresNode) -> bool:
    """People write too little to need a new file of the log soon."""
    try:
        node.ask("select pg_switch_wal()")
    except psycopg2.Error:
        pass
    return not node.process.is_alive()


def _between(scene: Scene, node: NatsNode) -> list[Link]:
    """The ways of this NATS node to the others and back."""
    network = scene.cluster.network
    return network.links(target=node.number, port=ROUTE) + network.links(source=node.number, port=ROUTE)


def _pair(scene: Scene) -> PostgresPair:
    databases = scene.cluster.databases
    if not isinstance(databases, PostgresPair):
        raise NotHere("Patroni decides who is the primary; see the faults called patroni-...")
    return databases


def _trio(scene: Scene) -> PatroniTrio:
    databases = scene.cluster.databases
    if not isinstance(databases, PatroniTrio):
        raise NotHere("only with --patroni")
    return databases


def _primary(scene: Scene) -> PostgresNode:
    return _pair(scene).primary


def _small_disk(scene: Scene, mebibytes: int) -> SmallDisk:
    try:
        disk = SmallDisk(mebibytes)
    except OSError as error:
        raise NotHere(f"no small disk: {error}") from error
    scene.cluster.on_end(disk.unmount)
    return disk
