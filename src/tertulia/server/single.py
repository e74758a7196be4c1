"""Web, relay and worker in one process, on one event loop: for small sites, where three processes are mostly three times the same
libraries in memory.

Each part goes on by itself as it does in a process of its own: the relay opens session after session, a chore that failed is
tried again. A part that ends all the same, by a mistake of ours or a database for another version, takes the process with it:
requests under way are answered, and whoever started it starts it again. Never does web serve on without the others.
"""

import asyncio
from collections.abc import Awaitable

import msgspec
import structlog

from tertulia.events.relay.process import Relay
from tertulia.kernel.process import raise_open_files
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.server.listening import Sockets
from tertulia.server.web import Beside, serve_web
from tertulia.server.worker import run_worker

log = structlog.get_logger()


class PartEnded(Exception):
    """A part came to its end though nobody told it to."""


async def serve_all(settings: Settings, sockets: Sockets, end: asyncio.Event) -> None:
    """Until SIGTERM, SIGINT or `end`; raises if a part ends before."""
    relay, stop = Relay(settings), asyncio.Event()
    quiet = msgspec.structs.replace(settings, metrics_port=0, traces_url="")  # web answers for all of them
    web = _part("web", serve_web(settings, raise_open_files(), sockets, Beside(relay.missing, end)))
    others = [_part("relay", relay.run(stop)), _part("worker", run_worker(quiet, stop))]
    if settings.mail_in_address:
        from tertulia.server.mail import run_mail  # with a library that other sites do not need

        others.append(_part("mail", run_mail(quiet, stop)))
    measuring = asyncio.create_task(relay.measure())
    try:
        ended, _ = await asyncio.wait((web, *others), return_when=asyncio.FIRST_COMPLETED)
        unasked = [task for task in others if task in ended]
        for task in unasked:
            log.error("a part has ended, and so does this process", part=task.get_name(), exc_info=_error_of(task))
        end.set()
        await asyncio.wait((web,))
        stop.set()
        await asyncio.wait(others)
    finally:
        await end_tasks([measuring])
    for task in (*unasked, web, *others):
        task.result()
    if unasked:
        raise PartEnded(f"the {unasked[0].get_name()} has ended")


def _part(name: str, work: Awaitable[None]) -> "asyncio.Task[None]":
    """A task whose lines in the log carry its name, like those of a process of its own."""

    async def run() -> None:
        structlog.contextvars.bind_contextvars(process=name)
        await work

    return asyncio.create_task(run(), name=name)


def _error_of(task: "asyncio.Task[None]") -> BaseException | None:
    return None if task.cancelled() else task.exception()
