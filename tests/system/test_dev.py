"""`tertulia dev`: from nothing to a working server, and an orderly end whatever happens."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg2
import pytest

from tests.harness.command import tertulia
from tests.harness.processes import is_running
from tests.harness.server import OwnServer, Server, User, is_ready
from tests.harness.talk import eventually

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def dev(shared_folder: Path) -> Iterator[OwnServer]:
    """One server for what changes it; the last test ends it."""
    own = OwnServer.start(shared_folder)
    try:
        yield own
    finally:
        own.stop()


def send(server: Server, user: User, content: str) -> httpx.Response:
    with server.client(user) as client:
        fields = {"type": "channel", "to": server.channels["general"], "topic": "test", "content": content}
        return client.post("messages", data=fields)


def wait_until_gone(pids: list[int], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while alive := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < deadline, f"still alive: {alive}"
        time.sleep(0.05)


def test_the_line_names_everybody_and_their_credentials_work(server: Server) -> None:
    assert isinstance(server, OwnServer)
    line = json.loads((server.folder / "ready.json").read_text())
    assert set(line) == {"url", "realm", "postgres_url", "nats_url", "users", "channels", "pids", "metrics"}
    assert {user["role"] for user in line["users"]} == {100, 200, 300, 400, 600}
    for user in server.ready.users:
        assert set(line["users"][0]) == {"user_id", "email", "password", "api_key", "role"}
        with server.client(user) as client:
            me = client.get("users/me").json()
            assert (me["user_id"], me["email"], me["role"]) == (user.user_id, user.email, user.role)
            if user.password is not None:
                reply = client.post("fetch_api_key", data={"username": user.email, "password": user.password})
                assert reply.status_code == 200, reply.text


def test_nothing_but_the_line_is_on_standard_output(server: Server) -> None:
    assert isinstance(server, OwnServer)
    assert (server.folder / "ready.json").read_bytes().count(b"\n") == 1


def test_the_demo_people_have_talked_in_public_and_private(server: Server) -> None:
    with server.client(server.owner) as client:
        # The oldest: whatever other tests have said on this server came later.
        page = client.get("messages", params={"anchor": "oldest", "num_before": 0, "num_after": 20}).json()
    assert len(page["messages"]) >= 8
    channels = {message["display_recipient"] for message in page["messages"] if message["type"] == "stream"}
    assert channels >= {"general", "board"}


def test_sigterm_stops_all_it_started_and_a_second_start_has_everything(folder: Path) -> None:
    first = OwnServer.start(folder, from_nothing=True)
    assert send(first, first.owner, "kept").status_code == 200
    pids = list(first.state.pids.values())
    assert first.stop() == 0
    wait_until_gone(pids, 1)
    assert not (folder / "data" / "state.json").exists()

    second = OwnServer.start(folder)
    try:
        assert second.ready.users == first.ready.users
        assert second.ready.channels == first.ready.channels
        with second.client(second.owner) as client:
            page = client.get("messages", params={"anchor": "newest", "num_before": 100, "num_after": 0}).json()
        contents = [message["content"] for message in page["messages"]]
        assert "kept" in contents[-1]
        assert len(contents) == len(set(contents)), "the demo talk was said twice"
    finally:
        assert second.stop() == 0


def test_a_killed_parent_takes_everything_with_it_and_nothing_is_lost(folder: Path) -> None:
    first = OwnServer.start(folder)
    assert send(first, first.owner, "kept over a kill").status_code == 200
    pids = list(first.state.pids.values())
    first.process.kill()
    second = OwnServer.start(folder)  # at once: it waits for what is still on its way out
    try:
        wait_until_gone(pids)
        with second.client(second.owner) as client:
            page = client.get("messages", params={"anchor": "newest", "num_before": 1, "num_after": 0}).json()
        assert "kept over a kill" in page["messages"][-1]["content"]
    finally:
        assert second.stop() == 0


def test_a_process_that_dies_is_started_again(dev: OwnServer) -> None:
    for name in ("web", "relay", "worker", "nats", "postgres"):
        dev.kill(name)
        await_answer(dev, f"after the death of {name}")
        assert f"{name} ended (killed by SIGKILL)" in (dev.folder / "dev.log").read_text()


def test_a_disk_that_takes_nothing_ends_no_more_than_what_it_must(dev: OwnServer) -> None:
    data = dev.folder / "data"
    settings, state = data / "nats" / "nats.conf", data / "state.json.new"
    settings.rename(data / "nats" / "aside")
    pids = dev.state.pids
    for each in (settings, state):
        each.mkdir()  # what cannot be opened to be written
    for name in ("worker", "nats"):
        os.kill(pids[name], signal.SIGKILL)
    said = dev.folder / "dev.log"
    eventually(lambda: "cannot be written" in said.read_text() and "nats.conf" in said.read_text())
    await_answer(dev, "while there is no NATS")
    for each in (settings, state):
        each.rmdir()
    eventually(lambda: {pids[name] for name in ("worker", "nats")}.isdisjoint(dev.state.pids.values()))
    eventually(lambda: is_ready(dev.state.metrics["web"]))


def await_answer(server: Server, content: str) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            if send(server, server.owner, content).status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_stop_in_the_middle_of_the_start_leaves_nothing(folder: Path) -> None:
    for pause in (0.2, 0.7, 1.5):
        command = [sys.executable, "-m", "tertulia", "dev", "--json", "--port", "0", "--data", str(folder / "data")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(pause)
            process.terminate()
            _, errors = process.communicate(timeout=30)
        assert process.returncode in (0, -signal.SIGTERM), errors.decode()
    own = OwnServer.start(folder)
    assert own.stop() == 0


def test_a_second_one_in_the_same_folder_is_refused_in_one_line(server: Server) -> None:
    assert isinstance(server, OwnServer)
    done = tertulia("dev", "--port", "0", "--data", str(server.folder / "data"))
    assert done.returncode == 1
    assert "runs already" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_with_other_peoples_files_is_left_alone(folder: Path) -> None:
    (folder / "precious").write_text("mine")
    done = tertulia("dev", "--fresh", "--port", "0", "--data", str(folder))
    assert done.returncode == 1
    assert "not from `tertulia dev`" in done.stderr
    assert (folder / "precious").read_text() == "mine"


def test_a_port_in_use_is_said_before_anything_is_started(server: Server, folder: Path) -> None:
    port = server.url.rpartition(":")[2]
    done = tertulia("dev", "--port", port, "--data", str(folder / "data"))
    assert done.returncode == 1
    assert f"Port {port} cannot be used" in done.stderr
    assert not (folder / "data" / "postgres").exists()


def test_realms_users_and_keys_are_made_by_commands(dev: OwnServer) -> None:
    data = ("--data", str(dev.folder / "data"))
    assert tertulia("realm", "create", "Second", "--subdomain", "second", *data).stdout.strip().isdigit()
    again = tertulia("realm", "create", "Second", "--subdomain", "second", *data)
    assert (again.returncode, again.stdout) == (1, "")
    made = tertulia(
        *("user", "create", "Rosa@example.com", "--name", "Rosa", "--role", "owner", "--realm", "second"),
        *data,
        env={"TERTULIA_USER_PASSWORD": "correct horse battery"},
    )
    assert made.stdout.strip().isdigit(), made.stderr
    key = tertulia("key", "create", "rosa@example.com", "--realm", "second", *data).stdout.strip()
    assert len(key) == 32
    rosa = User(int(made.stdout), "rosa@example.com", None, key, 100)
    with dev.client(rosa) as client:
        me = client.get("users/me", headers={"Host": "second.localhost"})
        assert me.json()["full_name"] == "Rosa"
        assert client.get("users/me").status_code == 401  # a key of another organization
    assert tertulia("key", "create", "nobody@example.com", "--realm", "second", *data).returncode == 1


def test_fill_adds_what_was_asked_for_and_leaves_no_trace_of_disorder(dev: OwnServer) -> None:
    wanted = ("--users", "500", "--channels", "3", "--messages", "2000", "--subscribers", "120")
    done = tertulia("dev", "fill", *wanted, "--json", "--data", str(dev.folder / "data"))
    assert done.returncode == 0, done.stderr
    filled = json.loads(done.stdout)
    ids = [channel["stream_id"] for channel in filled["channels"]]
    assert (filled["users"], len(ids), filled["messages"]) == (500, 3, 2000)
    connection = psycopg2.connect(dev.postgres_url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("select subscriber_count from channel where id = any(%s)", (ids,))
            assert cursor.fetchall() == [(120,)] * 3
            cursor.execute(
                "select count(*), sum(last_seq)::int from conversation where id = any(%s) and last_seq = "
                "(select max(seq) from message where conversation_id = conversation.id)",
                (ids,),
            )
            assert cursor.fetchone() == (3, 2000)
    finally:
        connection.close()
    dev.channels["general"] = ids[0]
    assert send(dev, dev.owner, "into the crowd").status_code == 200
    with dev.client(dev.owner) as client:
        page = client.get("messages", params={"anchor": "newest", "num_before": 50, "num_after": 0}).json()
    assert len(page["messages"]) == 50


def test_ctrl_c_stops_it_with_code_0(dev: OwnServer) -> None:
    dev.process.send_signal(signal.SIGINT)
    assert dev.process.wait(30)
    assert dev.process.exit_code == 0
