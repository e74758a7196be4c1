"""The first steps of somebody who tries an installed Tertulia, with nothing but the standard library:
start, log in, register, send, and the event arrives. Run by bin/smoke on every supported Python.

    python tests/smoke/first_steps.py PATH/TO/tertulia
"""

import base64
import json
import signal
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def main(command: str) -> None:
    subprocess.run([command, "--help"], check=True, stdout=subprocess.DEVNULL, timeout=60)
    with running_server(command) as ready:
        person = next(user for user in ready["users"] if user["role"] == 400)
        key = call(ready, "POST", "fetch_api_key", username=person["email"], password=person["password"])["api_key"]
        login = base64.b64encode(f"{person['email']}:{key}".encode()).decode()
        queue = call(ready, "POST", "register", login, event_types='["message"]')
        channel = ready["channels"][0]["stream_id"]
        sent = call(
            ready, "POST", "messages", login, type="channel", to=channel, topic="first steps", content="It works!"
        )
        events = call(ready, "GET", "events", login, queue_id=queue["queue_id"], last_event_id=queue["last_event_id"])
        received = [event["message"]["id"] for event in events["events"] if event["type"] == "message"]
        assert received == [sent["id"]], f"sent {sent['id']}, received {received}"
    print(f"Python {sys.version.split()[0]}: started, logged in, registered, sent and received message {sent['id']}.")


@contextmanager
def running_server(command: str) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="tertulia-smoke-") as data:
        server = subprocess.Popen(
            [command, "dev", "--json", "--port", "0", "--data", f"{data}/data"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line, f"`tertulia dev --json` ended with code {server.wait(60)} before it was ready"
            yield json.loads(line)
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(60)
        assert code == 0, f"`tertulia dev` ended with code {code} after SIGTERM"


def call(ready: dict[str, Any], method: str, path: str, login: str = "", **parameters: object) -> dict[str, Any]:
    encoded = urllib.parse.urlencode(parameters)
    url = f"{ready['url'].rstrip('/')}/api/v1/{path}" + (f"?{encoded}" if method == "GET" else "")
    body = encoded.encode() if method == "POST" else None
    request = urllib.request.Request(url, body, {"Authorization": f"Basic {login}"} if login else {}, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        reply: dict[str, Any] = json.load(response)
    assert reply["result"] == "success", reply
    return reply


if __name__ == "__main__":
    main(sys.argv[1])
