"""What the processes of a server count is there for Prometheus, under names as its linter wants them."""

from collections.abc import Callable

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.harness.promtool import promtool
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.talk import check_error, eventually


def metrics(server: Server, process: str) -> str:
    if process not in server.ready.metrics:
        pytest.skip(f"this server does not say where its {process} tells of itself")
    return httpx.get(f"{server.ready.metrics[process]}/metrics", trust_env=False).text


def value(server: Server, process: str, name: str, **labels: str) -> float:
    """The sum of all samples of that name with these labels."""
    families = text_string_to_metric_families(metrics(server, process))
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


def grown_by(server: Server, process: str, name: str, do: Callable[[], object], **labels: str) -> float:
    before = value(server, process, name, **labels)
    do()
    return value(server, process, name, **labels) - before


@pytest.mark.parametrize("process", ["web", "relay", "worker"])
def test_each_process_tells_its_version_and_its_memory_and_satisfies_the_linter(server: Server, process: str) -> None:
    text = metrics(server, process)
    assert 'tertulia_build_info{version="' in text
    assert "process_resident_memory_bytes" in text
    # What the library itself names is its own business.
    said = promtool("check", "metrics", given=text).stderr
    ours = [line for line in said.splitlines() if line.startswith("tertulia_")]
    assert ours == []


def test_a_message_is_counted_and_so_is_the_time_until_listeners_have_it(realm: Realm, server: Server) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    with realm.member.register(event_types=["message"]) as queue:

        def send() -> None:
            queue.until_message(realm.owner.send(channel.stream_id, "topic", "counted"))

        heard = value(server, "web", "tertulia_event_delay_seconds_count")
        stored = value(server, "relay", "tertulia_relay_store_seconds_count")
        assert grown_by(server, "web", "tertulia_messages_sent_total", send) >= 1
        assert value(server, "web", "tertulia_event_delay_seconds_count") > heard
        assert value(server, "relay", "tertulia_relay_store_seconds_count") > stored
    took = value(server, "web", "tertulia_event_delay_seconds_sum")
    assert 0 < took / value(server, "web", "tertulia_event_delay_seconds_count") < 30


def test_a_failed_log_in_is_counted(realm: Realm, server: Server) -> None:
    def fail() -> None:
        wrong = realm.stage.nobody().request("POST", "fetch_api_key", username=server.owner.email, password="not mine")
        check_error(wrong, "AUTHENTICATION_FAILED", 401)

    assert grown_by(server, "web", "tertulia_audited_acts_total", fail, act="login.failed") >= 1


def test_queues_are_counted_when_they_come_and_when_they_go(realm: Realm, server: Server) -> None:
    def come_and_go() -> None:
        with realm.member.register(event_types=["message"]):
            assert value(server, "web", "tertulia_event_queues") >= 1

    ended = value(server, "web", "tertulia_queues_ended_total", how="ended")
    assert grown_by(server, "web", "tertulia_queue_registrations_total", come_and_go) >= 1
    assert value(server, "web", "tertulia_queues_ended_total", how="ended") > ended


def test_a_web_process_tells_of_its_connections(server: Server) -> None:
    with httpx.Client(trust_env=False) as client:
        client.get(f"{server.url}/api/v1/server_settings")
        assert value(server, "web", "tertulia_connections") >= 1
    assert value(server, "web", "tertulia_postgres_connections") >= 1
    assert value(server, "web", "tertulia_engine_up", engine="PostgreSQL") == 1
    assert value(server, "web", "tertulia_engine_up", engine="NATS") == 1


def test_the_worker_tells_how_much_there_is_and_that_nothing_has_waited_for_long(server: Server) -> None:
    eventually(lambda: value(server, "worker", "tertulia_database_bytes") > 1_000_000)
    assert value(server, "worker", "tertulia_people", kind="people") >= 3
    assert value(server, "worker", "tertulia_organizations") >= 1
    assert value(server, "worker", "tertulia_slot_lost") == 0
    told = metrics(server, "worker")
    for chore in ("mails", "notices", "scheduled messages", "reminders", "pushes", "calls to bots", "thumbnails"):
        assert f'tertulia_worker_backlog{{chore="{chore}"}}' in told
        assert f'tertulia_worker_oldest_seconds{{chore="{chore}"}}' in told
