"""`tertulia health`: one question to the process beside which it is called, for containers, which have no curl."""

from enum import StrEnum
from typing import Annotated

import typer

from tertulia.cli.errors import CommandFailed

SECONDS = 5.0


class Question(StrEnum):
    """What /health answers."""

    LIVE = "live"
    SERVING = "serving"
    READY = "ready"


def health(
    question: Annotated[
        Question, typer.Argument(help="live: it runs. serving: it takes requests. ready: its engines are there, too.")
    ] = Question.SERVING,
) -> None:
    """Ask the process of these settings, at TERTULIA_METRICS_PORT, how it is; exit with 1 unless the answer is yes."""
    from tertulia.cli.target import settings_file
    from tertulia.kernel.settings import load_settings

    settings = load_settings(settings_file())
    if not settings.metrics_port:
        raise CommandFailed("The process has no port for such questions: set TERTULIA_METRICS_PORT.")
    # Whoever listens at every address listens at this one.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.metrics_host, settings.metrics_host)  # noqa: S104
    try:
        is_so, told = ask_health(host, settings.metrics_port, question)
    except OSError as problem:
        raise CommandFailed(f"No answer at {host}:{settings.metrics_port}: {problem}") from problem
    if not is_so:
        raise CommandFailed(told)
    print(told)


def ask_health(host: str, port: int, question: Question) -> tuple[bool, str]:
    """Whether it is so, and what the process says; OSError if nobody answers."""
    import http.client
    from contextlib import closing

    with closing(http.client.HTTPConnection(host, port, timeout=SECONDS)) as connection:
        try:
            connection.request("GET", f"/health/{question}")
            answer = connection.getresponse()
            return answer.status == http.client.OK, answer.read().decode(errors="replace").strip()
        except http.client.HTTPException as problem:
            raise OSError(repr(problem)) from problem
