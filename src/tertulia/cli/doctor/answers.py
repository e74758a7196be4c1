"""What `tertulia doctor` says of answers that take their time: does the proxy pass on what comes, and wait for the rest?

The server is asked for an answer of two bytes with a pause between them (server/probes). A proxy that collects answers brings
both at once. One that waits for less than the pause ends the answer, as it ends polls on which nothing happens.
"""

import http.client
import time
from typing import Final
from urllib.parse import quote

from tertulia.cli.doctor import Advice, Several
from tertulia.cli.doctor.way import connected
from tertulia.kernel.sealing import Sealer, sealer_of
from tertulia.kernel.settings import Settings

PAUSE_SECONDS: Final = (2.0, 4.0, 8.0)
"""For each try, before it is said that a proxy collects: on a busy machine both bytes may come together by chance."""
PATIENCE_SECONDS: Final = 15.0
"""More than the pause."""


class _Ended(Exception):
    """The rest never came."""


def check_answers(settings: Settings, *, is_thorough: bool) -> str:
    """What holds; raises for what is wrong."""
    sealer = sealer_of(settings)
    if not sealer.has_key:
        return "answers were not looked at, without a sealing key"
    try:
        if all(_collects(settings, sealer, seconds) for seconds in PAUSE_SECONDS):
            raise Advice(
                "the proxy collects answers before it passes them on: large files lie on its disk first, and reach a"
                " client later (nginx: proxy_buffering off)"
            )
        if not is_thorough:
            return "answers are passed on as they come (--thorough also tries whether a poll may wait)"
        _check_poll(settings, sealer)
    except (OSError, http.client.HTTPException) as problem:
        raise Advice(f"a slow answer through the proxy was lost: {problem!r}") from problem
    return "answers are passed on as they come, and polls may wait"


def _collects(settings: Settings, sealer: Sealer, seconds: float) -> bool:
    try:
        return _between(settings, sealer, seconds) < seconds / 2
    except _Ended:
        return False  # that is the other mistake


def _check_poll(settings: Settings, sealer: Sealer) -> None:
    """As long as a poll waits at most: a proxy that is less patient makes every client begin anew, again and again."""
    longest = settings.heartbeat_seconds + settings.heartbeat_jitter_seconds
    began = time.monotonic()
    try:
        _between(settings, sealer, longest)
    except _Ended as ended:
        found = f"the proxy ends answers on which nothing happens for {time.monotonic() - began:.0f} s"
        advice = "let it wait for longer (nginx: proxy_read_timeout 120s)"
        raise Several([f"{found}, and a poll waits for {longest:.0f} s: {advice}"]) from ended


def _between(settings: Settings, sealer: Sealer, seconds: float) -> float:
    """The time between the two bytes of an answer with such a pause."""
    from tertulia.server.probes.tickets import new_ticket

    ticket = new_ticket(sealer, seconds, time.time())
    with connected(settings, seconds + PATIENCE_SECONDS) as connection:
        try:
            connection.request("GET", f"/probe/{quote(ticket)}")
            reply = connection.getresponse()
            reply.read(1)
            first = time.monotonic()
            whole = bool(reply.read())
        except (http.client.IncompleteRead, http.client.RemoteDisconnected, ConnectionResetError, TimeoutError) as cut:
            raise _Ended from cut
        if reply.status >= http.client.INTERNAL_SERVER_ERROR or not whole:
            raise _Ended
        if reply.status != http.client.OK:
            raise http.client.HTTPException(f"it was answered {reply.status}")
        return time.monotonic() - first
