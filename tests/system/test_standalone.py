"""`tertulia serve --standalone`: from its page to a message through TLS; and what it keeps when everything is killed."""

import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg2
import pytest

from tests.harness.command import tertulia
from tests.harness.processes import is_running
from tests.harness.talk import eventually
from tests.system.debian_root import CHECKOUT, MOST_COMMANDS, STANDALONE_GUIDE, commands_of_guide, run_in_overlay
from tests.system.small_disk import MIB, fill, small_disk
from tests.system.standalone_site import StandaloneSite
from tests.system.test_install import CONFINED, DOCTOR, ENVIRONMENT, FILES, MEET, check_unit

pytestmark = pytest.mark.system
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another root")
OPEN_PORTS = "ss --listening --tcp --no-header --numeric | awk '{print $4}' | sort"
PLANT_A_LINK: Final = (
    "systemctl stop tertulia",
    "echo untouched >/own-of-root",
    "ln -sf /own-of-root /var/lib/tertulia/postgres/postgres.log",
    "ln -sf /own-of-root /var/lib/tertulia/postgres/cluster/postgresql.conf",
)
"""As an intruder with the server's account would, so that root writes where they cannot."""
SENDERS: Final = 4


@as_root
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_commands_of_the_page_lead_to_a_message_through_tls(tmp_path: Path) -> None:
    *_, init, restart = commands_of_guide(STANDALONE_GUIDE)
    confined = CONFINED.replace("tertulia-web.service", "tertulia.service")
    begin = [ENVIRONMENT, f"{init} >/link", restart, MEET, confined, FILES, OPEN_PORTS, init, DOCTOR]
    said = run_in_overlay(tmp_path, [*begin, *PLANT_A_LINK, f"{init} || echo refused", "cat /own-of-root"])
    assert said.code == 0, said.text
    assert "heard: It works!" in said.text
    assert re.search(r"Uid:\t[1-9].*\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n", said.text), said.text
    assert re.findall(r"^/etc/tertulia/(.*)", said.text, re.MULTILINE) == [
        "sealing.keys 640 root:tertulia",
        "tertulia.toml 640 root:tertulia",
    ]
    # Not 9997, where NATS would tell of itself without a password.
    assert sorted(re.findall(r"^(\S+:999\d)$", said.text, re.MULTILINE)) == [f"127.0.0.1:999{n}" for n in (1, 4, 5, 6)]
    assert "ok      settings file: /etc/tertulia/tertulia.toml" in said.text
    assert "on disk within 10 s" in said.text
    assert "The owner has a password already" in said.text
    assert re.search(r"postgresql.conf cannot be used: Permission denied\.\n(.*\n)*refused\nuntouched\n", said.text), (
        said.text
    )


def test_the_page_needs_no_more_than_five_commands() -> None:
    commands = commands_of_guide(STANDALONE_GUIDE)
    assert len(commands) <= MOST_COMMANDS
    assert not [each for each in commands if re.search(r"[;&|]", each)], "one command is one command"


def test_the_unit_is_right_and_leaves_little_to_whoever_breaks_in(tmp_path: Path) -> None:
    check_unit(CHECKOUT / "deploy" / "standalone", "tertulia.service", tmp_path, "tertulia.socket")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneSite]:
    """Set up, and not started."""
    found = StandaloneSite(tmp_path_factory.mktemp("standalone"), "--single")
    try:
        yield found
    finally:
        found.stop(seconds=60)


@pytest.mark.timeout(400)
def test_what_was_answered_is_there_after_everything_was_killed_and_a_missed_backup_is_made_up_for(
    site: StandaloneSite,
) -> None:
    site.start()
    site.await_ready()
    check_settings(site)
    email, key = site.owner()
    answered = send_until_killed(site, email, key)
    assert len(answered) > SENDERS
    (site.data / "last-backup").touch()
    os.utime(site.data / "last-backup", (0, 0))

    site.start()
    site.await_ready()
    with site.client(email, key) as client:
        narrow = {"anchor": "newest", "num_before": "5000", "num_after": "0", "apply_markdown": "false"}
        found = {each["id"]: each["content"] for each in client.get("messages", params=narrow).json()["messages"]}
    assert {number: found.get(number) for number in answered} == answered
    eventually(lambda: list((site.data / "backups").glob("*/manifest.json")), 60)
    eventually(lambda: (site.data / "last-backup").stat().st_mtime > time.time() - 600, 60)

    everything = site.processes()
    site.stop(seconds=60)
    assert site.exit_code == 0
    assert not any(map(is_running, everything))
    said = site.said()
    assert "database system was not properly shut down" in said, "nothing was killed"
    assert "database system is shut down" in said, "PostgreSQL was not stopped in order"

    check_restored(site, answered)


@pytest.mark.timeout(300)
def test_after_a_full_disk_everybody_hears_of_what_was_sent_meanwhile_with_nobody_restarting_anything(
    tmp_path: Path,
) -> None:
    site = StandaloneSite(tmp_path, "--single")
    with small_disk(site.data / "nats" / "store", 96 * MIB) as disk, site:
        site.await_ready()
        with site.client(*site.owner()) as client:
            queue = client.post("register", data={"event_types": '["message"]'}).json()
            ballast = disk / "ballast"
            fill(ballast)
            eventually(lambda: "the disk of NATS is full" in site.said(), 30)
            sent = [send(client, f"without room {number}") for number in range(200)]
            eventually(lambda: "stores no events" in said_of_health(site), 60)
            ballast.unlink()
            assert heard(client, queue, sent[-1]) == sent
            sent = [send(client, "with room")]
            assert heard(client, queue, sent[-1]) == sent
        site.await_ready()
        assert site.said().count("restarting nats") == 1
        site.stop(seconds=60)


def said_of_health(site: StandaloneSite) -> str:
    return httpx.get(f"{site.metrics}/health/ready", timeout=30, trust_env=False).text


def send(client: httpx.Client, content: str) -> int:
    fields = {"type": "channel", "to": "general", "topic": "disks", "content": content}
    number: int = client.post("messages", data=fields).raise_for_status().json()["id"]
    return number


def heard(client: httpx.Client, queue: dict[str, Any], last: int) -> list[int]:
    """Until that message; the next call goes on behind it."""
    found: list[int] = []
    while last not in found:
        where = {"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"]}
        reply = client.get("events", params=where)
        if reply.status_code == 503:  # while there is no NATS
            time.sleep(0.2)
            continue
        events = reply.raise_for_status().json()["events"]
        queue["last_event_id"] = events[-1]["id"]
        found += [each["message"]["id"] for each in events if each["type"] == "message"]
    return found


def check_settings(site: StandaloneSite) -> None:
    """PostgreSQL's own word for it."""
    connection = psycopg2.connect(site.postgres_url)
    with connection, connection.cursor() as cursor:
        wanted = ("fsync", "full_page_writes", "synchronous_commit", "listen_addresses")
        cursor.execute("select name, setting from pg_settings where name = any(%s)", (list(wanted),))
        assert dict(cursor.fetchall()) == dict.fromkeys(wanted[:3], "on") | {"listen_addresses": "127.0.0.1"}
        cursor.execute("select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user")
        assert cursor.fetchall() == [(False, False, False)]
    connection.close()
    with pytest.raises(psycopg2.OperationalError, match="password"):
        psycopg2.connect(re.sub(r"tertulia:\w+@", "tertulia:guessed@", site.postgres_url))


def send_until_killed(site: StandaloneSite, email: str, key: str) -> dict[int, str]:
    """What was answered before everything was killed."""
    answered: dict[int, str] = {}
    enough = threading.Event()

    def send(sender: int) -> None:
        with site.client(email, key) as client:
            for number in range(10_000):
                text = f"{sender} says {number}"
                try:
                    fields = {"type": "channel", "to": "general", "topic": "crash", "content": text}
                    reply = client.post("messages", data=fields)
                except Exception:
                    return
                if reply.status_code != 200:  # a part of it was killed a moment before the rest
                    return
                answered[reply.json()["id"]] = text
                if len(answered) > 20 * SENDERS:
                    enough.set()

    senders = [threading.Thread(target=send, args=(number,)) for number in range(SENDERS)]
    for sender in senders:
        sender.start()
    assert enough.wait(60)
    site.kill_everything()
    for sender in senders:
        sender.join(60)
    return answered


def check_restored(site: StandaloneSite, answered: dict[int, str]) -> None:
    """Of the night's backup, by the commands of the page."""
    before = site.data / "before"
    before.mkdir()
    (site.data / "postgres").rename(before / "postgres")
    refused = tertulia("serve", "--standalone", env=site.settings)
    assert "Is its disk mounted?" in refused.stderr, refused
    with site.engines_only() as engines:
        restored = tertulia("restore", f"{site.data}/backups/latest", env=site.settings)
        assert restored.returncode == 0, restored.stderr
        connection = psycopg2.connect(site.postgres_url)
        with connection, connection.cursor() as cursor:
            cursor.execute("select id from message")
            assert {number for (number,) in cursor} >= answered.keys()
        connection.close()
    assert engines.exit_code == 0
