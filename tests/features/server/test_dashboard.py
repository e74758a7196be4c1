"""The dashboard in deploy/monitoring, put to a real Prometheus that scrapes a real server: no panel stays empty.

What Grafana draws of it cannot be seen here; what it would be answered can.
"""

import json
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tertulia.engines import ChildProcess, free_port
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.talk import check_success, unique

FOLDER = Path(__file__).parents[3] / "deploy" / "monitoring"
PORTS = {"relay": "9992", "worker": "9993", "web": "9994"}
VARIABLES = {"$__rate_interval": "1m", "$instance": ".*"}
"""What Grafana puts in their places."""
SECONDS = 150
"""Some of what the worker tells it looks up every few seconds only."""


@pytest.fixture
def prometheus(server: Server, folder: Path) -> Iterator[str]:
    """Where one answers that runs with the file we ship, at the ports of this server and in more of a hurry."""
    if not server.ready.metrics.keys() >= PORTS.keys():
        pytest.skip("this server does not say where its processes tell of themselves")
    program = shutil.which("prometheus")
    assert program, "prometheus is missing: apt-get install prometheus (the .ci/run script does it as root)"
    text = (FOLDER / "prometheus.yml").read_text().replace("scrape_interval: 15s", "scrape_interval: 1s")
    for process, port in PORTS.items():
        assert f'"127.0.0.1:{port}"' in text
        text = text.replace(f"127.0.0.1:{port}", urlsplit(server.ready.metrics[process]).netloc)
    (folder / "prometheus.yml").write_text(text.replace("- alerts.yml", f"- {FOLDER / 'alerts.yml'}"))
    where = f"127.0.0.1:{free_port()}"
    options = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    running = ChildProcess([program, *options, f"--web.listen-address={where}"], folder / "prometheus.log")
    running.start()
    try:
        yield f"http://{where}"
    finally:
        running.stop(signal.SIGTERM, 20)


def panels() -> dict[str, list[str]]:
    """What each panel asks, by its title."""
    shown = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    return {panel["title"]: [asked["expr"] for asked in panel["targets"]] for panel in shown if panel.get("targets")}


def found_by(prometheus: str, expression: str) -> list[object]:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert not re.search(r"\$\w", expression), f"nobody knows what stands for the variable in {expression}"
    try:
        answer = httpx.get(f"{prometheus}/api/v1/query", params={"query": expression}, trust_env=False)
    except httpx.TransportError:
        return []  # it is starting
    if answer.status_code == 503:
        return []  # it is starting still, and says so in plain text
    said = answer.json()
    assert said["status"] == "success", said
    found: list[object] = said["data"]["result"]
    return found


def test_every_panel_of_the_dashboard_shows_something(realm: Realm, prometheus: str) -> None:
    everything = panels()
    assert len(everything) > 25
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)

    check_success(realm.owner.request("PATCH", f"users/{realm.guest.id}", role=400))  # an act of weight
    asked = {
        "invitee_emails": f"{unique('guest').replace(' ', '.')}@example.com",
        "stream_ids": [],
        "invite_expires_in_minutes": 60,
    }
    check_success(realm.owner.request("POST", "invites", **asked))  # a mail
    empty = list(everything)

    def all_show() -> bool:
        # Somebody talks, listens and sends a file meanwhile: what is never done is not counted either.
        with realm.member.register(event_types=["message"]) as queue:
            queue.until_message(realm.owner.send(channel.stream_id, "tea", "Some water, please."))
        check_success(realm.owner.http.post("user_uploads", files={"file": ("tea.txt", b"leaves")}))
        empty[:] = [title for title in empty if not any(found_by(prometheus, one) for one in everything[title])]
        return not empty

    deadline = time.monotonic() + SECONDS
    while not all_show() and time.monotonic() < deadline:
        time.sleep(0.5)
    assert empty == []
