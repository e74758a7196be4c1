"""How commands answer: columns with tabs between them for people and for `cut`, or JSON."""

from collections.abc import Iterable
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


def print_json(value: object) -> None:
    """One value, on lines that people can read too."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value, enc_hook=str)).decode())


def print_rows(rows: Iterable[Iterable[object]]) -> None:
    """One on a line; nothing stands for what is not there."""
    for row in rows:
        print(*("-" if value is None or value == "" else value for value in row), sep="\t")
