"""What the processes on this machine say of themselves, as far as they have a port for that."""

from tertulia.cli.errors import CommandFailed
from tertulia.cli.health import Question, ask_health
from tertulia.kernel.settings import Settings

PROCESSES = 3
"""`tertulia serve` gives them ports in a row; one more if mail comes in."""


def look_at_processes(settings: Settings) -> str:
    """Refuse if one of them cannot work."""
    if not settings.metrics_port:
        return "not asked: TERTULIA_METRICS_PORT is not set"
    ports = range(settings.metrics_port, settings.metrics_port + PROCESSES + bool(settings.mail_in_address))
    said = {port: _ask(settings.metrics_host, port) for port in ports}
    if waiting := [f"port {port} is {answer}" for port, answer in said.items() if answer.startswith("waiting for")]:
        raise CommandFailed("; ".join(waiting))
    return f"{sum(answer == 'ready' for answer in said.values())} of them are ready"


def _ask(host: str, port: int) -> str:
    """`ready`, what the process waits for, or nothing if there is none."""
    try:
        _, told = ask_health(host, port, Question.READY)
    except OSError:
        return ""
    return told
