"""How a measurement is shown: a small table for people, one line of JSON for programs."""

import os
import platform
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table


class Figure(msgspec.Struct):
    """One line: ours, the bare engine's, and what is aimed at."""

    name: str
    ours: float
    unit: str
    bare: float | None = None
    target: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.bare if self.bare else None


class Report(msgspec.Struct):
    """The outcome of one run."""

    title: str
    parameters: dict[str, Any]
    figures: list[Figure]
    notes: list[str] = msgspec.field(default_factory=list)
    machine: dict[str, Any] = msgspec.field(default_factory=dict)


def machine(postgres: str) -> dict[str, Any]:
    load = os.getloadavg()[0]
    return {
        "cores": os.cpu_count(),
        "load before": round(load, 2),
        "python": platform.python_version(),
        "postgresql": postgres,
    }


def show(report: Report) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 150
    table = Table(title=report.title, title_justify="left", title_style="bold")
    has_bare = any(figure.bare is not None for figure in report.figures)
    for column in ("", "ours", *(("bare", "ratio") if has_bare else ()), "target", ""):
        table.add_column(column, justify="right" if column in ("ours", "bare", "ratio") else "left")
    for figure in report.figures:
        compared = (_bare(figure), "" if figure.ratio is None else f"{figure.ratio:.2f}") if has_bare else ()
        table.add_row(figure.name, f"{number(figure.ours)} {figure.unit}", *compared, figure.target, figure.note)
    console.print(table)
    for note in report.notes:
        console.print(f"  {note}")
    described = {**report.machine, **report.parameters}
    console.print("  " + ", ".join(f"{name}: {value}" for name, value in described.items()), style="dim")


def _bare(figure: Figure) -> str:
    return "" if figure.bare is None else f"{number(figure.bare)} {figure.unit}"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def as_json(report: Report) -> str:
    figures = [msgspec.to_builtins(figure) | {"ratio": figure.ratio} for figure in report.figures]
    return msgspec.json.encode(msgspec.to_builtins(report) | {"figures": figures}).decode()
