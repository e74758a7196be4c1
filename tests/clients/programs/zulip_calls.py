"""Run by the Python that has PyPI's `zulip`: calls methods of one `zulip.Client` as lines of JSON ask, and prints the answers.

A line is `[method, positional arguments, keyword arguments]`; `{"file": path}` stands for that file, opened.
"""

import json
import sys
from typing import Any

import zulip


def main() -> None:
    site, email, key = sys.argv[1:]
    client = zulip.Client(site=site, email=email, api_key=key)
    public = [name for name in dir(zulip.Client) if not name.startswith("_")]
    print(json.dumps({"client": client.get_user_agent(), "methods": public}), flush=True)
    for line in sys.stdin:
        method, positional, named = json.loads(line)
        try:
            answer = getattr(client, method)(*map(opened, positional), **named)
        except Exception as error:
            answer = {"result": "exception", "msg": repr(error)}
        print(json.dumps(answer), flush=True)


def opened(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"file"}:
        return open(value["file"], "rb")  # noqa: PTH123
    return value


main()
