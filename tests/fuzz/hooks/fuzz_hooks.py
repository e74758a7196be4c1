"""Runs inside Schemathesis: generated requests are to reach something, so names of things get values that exist.

FUZZ_WORLD is a JSON object of parameter names and values that exist; FUZZ_COUNTS the file that the answers are counted in.
Of three generated values two are replaced, chosen by the value itself, so that a run can be repeated.
"""

import atexit
import json
import os
import zlib
from collections import Counter
from typing import Any

import schemathesis

WORLD: dict[str, list[Any]] = json.loads(os.environ["FUZZ_WORLD"])
COUNTS: Counter[str] = Counter()


def _replaced(name: str, value: Any) -> Any:
    known = WORLD.get(name)
    if not known:
        return value
    chance = zlib.crc32(repr((name, value)).encode())
    return value if chance % 3 == 0 else known[chance // 3 % len(known)]


def _with_known(fields: Any) -> Any:
    return {name: _replaced(name, value) for name, value in fields.items()} if isinstance(fields, dict) else fields


@schemathesis.hook  # type: ignore[untyped-decorator]
def map_path_parameters(_context: Any, path_parameters: Any) -> Any:
    return _with_known(path_parameters)


@schemathesis.hook  # type: ignore[untyped-decorator]
def map_query(_context: Any, query: Any) -> Any:
    return _with_known(query)


@schemathesis.hook  # type: ignore[untyped-decorator]
def map_body(_context: Any, body: Any) -> Any:
    return _with_known(body)


@schemathesis.hook  # type: ignore[untyped-decorator]
def after_call(_context: Any, _case: Any, response: Any) -> None:
    COUNTS[str(response.status_code)] += 1


@atexit.register
def _write() -> None:
    with open(os.environ["FUZZ_COUNTS"], "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(COUNTS, file)
