"""Run by the Python that has PyPI's `zulip`: prints what `call_on_each_event` or `call_on_each_message` delivers.

Beside it a line for each answer to a poll, so that a test sees what the loop lives through; the loop itself is theirs.
"""

import json
import sys
from typing import Any

import zulip


class Watched(zulip.Client):  # type: ignore[misc]  # not in our .venv
    def register(self, *positional: Any, **named: Any) -> dict[str, Any]:
        return shown("register", super().register(*positional, **named))

    def get_events(self, **named: Any) -> dict[str, Any]:
        return shown("poll", super().get_events(**named))


def shown(what: str, answer: dict[str, Any]) -> dict[str, Any]:
    types = [event["type"] for event in answer.get("events", [])]
    said = {"result": answer["result"], "code": answer.get("code"), "types": types, "queue": answer.get("queue_id")}
    print(json.dumps({what: said}), flush=True)
    return answer


def main() -> None:
    site, email, key, method, options = sys.argv[1:]
    client = Watched(site=site, email=email, api_key=key)
    getattr(client, method)(lambda it: print(json.dumps({"delivered": it}), flush=True), **json.loads(options))


main()
