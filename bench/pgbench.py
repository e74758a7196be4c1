"""The bare engine: pgbench runs our own statements, prepared, on the same database."""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tertulia.engines import find_postgres
from tertulia.kernel.settings import load_settings

_TEXT = re.compile(r"'[^']*'")
_VARIABLE = re.compile(r":\w")
_PARAMETER = re.compile(r"\$(\d+)")


class Bare(NamedTuple):
    rate: float
    milliseconds: float


class Statement(NamedTuple):
    sql: str
    arguments: Sequence[object]
    types: Sequence[str] = ()
    """Of the parameters. pgbench makes each mention a parameter of its own, so each needs its type."""


def script(statements: Sequence[Statement], *, begin: str | None = "begin") -> tuple[str, dict[str, str]]:
    """A pgbench script and its variables. An argument that is text starting with `:` is a variable of the script."""
    lines: list[str] = []
    variables: dict[str, str] = {}
    for number, statement in enumerate(statements):

        def place(match: re.Match[str], number: int = number, statement: Statement = statement) -> str:
            arguments, types = statement.arguments, statement.types
            index = int(match[1]) - 1
            value = arguments[index]
            cast = f"::{types[index]}" if types else ""
            if value is None:
                return f"null{cast}"
            if isinstance(value, str) and value.startswith(":"):
                return value
            name = f"v{number}_{index}"
            variables[name] = literal(value)
            return f":{name}{cast}"

        text = re.sub(r"--[^\n]*", "", statement.sql)
        text = _TEXT.sub(_without_colons, text)
        lines.append(" ".join(_PARAMETER.sub(place, text).split()) + ";")
    if begin:
        lines = [f"{begin};", *lines, "commit;"]
    return "\n".join(lines) + "\n", variables


def _without_colons(match: re.Match[str]) -> str:
    """pgbench would take what follows a colon for one of its variables, even inside a text."""
    return "(" + match[0].replace(":", "'||chr(58)||'") + ")" if _VARIABLE.search(match[0]) else match[0]


def literal(value: object) -> str:
    """A parameter as PostgreSQL reads it from text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, list | tuple):
        return "{" + ",".join("NULL" if item is None else _quoted(literal(item)) for item in value) + "}"
    return str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def run_pgbench(
    url: str, text: str, variables: Mapping[str, str], *, clients: int, seconds: float, head: str = ""
) -> Bare:
    """Transactions per second and their mean time."""
    program = find_postgres(load_settings()) / "pgbench"
    with tempfile.TemporaryDirectory(prefix="tertulia-bench-") as folder:
        file = Path(folder) / "script.sql"
        file.write_text(head + text)
        command = [str(program), "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(2, clients))]
        command += ["-T", str(max(1, round(seconds))), "-f", str(file)]
        for name, value in variables.items():
            command += ["-D", f"{name}={value}"]
        env = os.environ | {"PGOPTIONS": "-c plan_cache_mode=force_generic_plan -c jit=off"}
        done = subprocess.run([*command, url], env=env, capture_output=True, text=True, check=False)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    latency = re.search(r"latency average = ([\d.]+) ms", done.stdout)
    if (
        done.returncode
        or rate is None
        or latency is None
        or "failed: 0" not in done.stdout.replace("failed transactions", "failed")
    ):
        raise RuntimeError(f"pgbench: {done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return Bare(float(rate[1]), float(latency[1]))
