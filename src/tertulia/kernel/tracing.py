"""Traces by OpenTelemetry, for those who collect them: a span for each request, piece of work and transaction of the relay, with
the statements that it asked as spans below it.

An extra (`tertulia[traces]`): where `traces_url` is not set nothing of it is imported, and a request costs one comparison more.
A span has names of our own and numbers: neither SQL nor a parameter, a text or an address. Statements are named after the
function that asks them; there is one for each. Spans are made when what they tell of is over, from moments that were noted, and
sent by a thread of the exporter: a collector that is away delays nobody.

Of what succeeded a share is told (`traces_share`); what failed always is.
"""

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from tertulia import __version__
from tertulia.kernel import statements
from tertulia.kernel.request_metrics import METHODS
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.statements import Statements, count_anew

if TYPE_CHECKING:
    from tertulia.kernel.call import Call

MOST_STATEMENTS: Final = 200
"""Of one span; of what asks more, the first are told."""
FLUSH_MILLISECONDS: Final = 3000
_OWN: Final = "tertulia."


class Asked(NamedTuple):
    """A statement: its name, and from when to when, by `perf_counter`."""

    name: str
    began: float
    ended: float


class NamedStatements(Statements):
    """Remembers each of them."""

    __slots__ = ("asked", "began")

    def __init__(self) -> None:
        super().__init__()
        self.began = perf_counter()
        self.asked: list[Asked] = []

    def answered(self, began: float, name: str = "") -> None:
        super().answered(began)
        if len(self.asked) < MOST_STATEMENTS:
            self.asked.append(Asked(name or _asker(), began, perf_counter()))

    def shared(self, others: Statements) -> None:
        super().shared(others)
        if isinstance(others, NamedStatements):
            self.asked += others.asked[: MOST_STATEMENTS - len(self.asked)]


def _asker() -> str:
    """The function that asks the reader, such as `messaging.drafts.queries.drafts_of`."""
    frame = sys._getframe(3)  # this one, `answered`, and the reader's
    return f"{frame.f_globals['__name__'].removeprefix(_OWN)}.{frame.f_code.co_qualname}"


class Route(Protocol):
    """What is asked for, as the API knows it."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...


class Traces:
    """What is told of one process."""

    def __init__(self, tracer: Any, share: float) -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

        self._tracer = tracer
        self._share = share
        self._kinds = SpanKind
        self._below = set_span_in_context
        self._failed = Status(StatusCode.ERROR)

    def request(self, call: "Call", route: Route | None, status: int) -> None:
        """A request was answered."""
        failed = status >= 500
        if not self._is_told(failed=failed):
            return
        method = call.method if call.method in METHODS else "_OTHER"
        about: dict[str, Any] = {"http.request.method": method, "http.response.status_code": status}
        about["tertulia.request_id"] = call.request_id
        if route is not None:
            about |= {"http.route": route.path, "tertulia.endpoint": route.name}
        if call.caller is not None:
            about |= {"tertulia.realm_id": call.caller.realm_id, "tertulia.user_id": call.caller.user_id}
        name = f"{method} {route.path}" if route else method
        self._tell(name, self._kinds.SERVER, call.statements, about, failed=failed)

    def work(self, name: str, asked: Statements, number: int, *, failed: bool) -> None:
        """Some work is over: so many pieces. What did nothing is not told."""
        if (number or failed) and self._is_told(failed=failed):
            self._tell(name, self._kinds.INTERNAL, asked, {"tertulia.pieces": number}, failed=failed)

    def stored(self, seconds: float) -> None:
        """The events of a transaction are in the log, so long after its commit."""
        if self._is_told(failed=False):
            now = time.time_ns()
            begun = now - int(seconds * 1e9)
            self._tracer.start_span("relay transaction", kind=self._kinds.PRODUCER, start_time=begun).end(now)

    def _is_told(self, *, failed: bool) -> bool:
        return failed or self._share >= 1 or random.random() < self._share

    def _tell(self, name: str, kind: Any, asked: Statements, about: dict[str, Any], *, failed: bool) -> None:
        if not isinstance(asked, NamedStatements):
            return
        # Moments are noted by the clock that never jumps; a span has the time of day.
        offset = time.time_ns() - int(perf_counter() * 1e9)

        def moment(noted: float) -> int:
            return offset + int(noted * 1e9)

        about |= {"tertulia.statements": asked.number, "tertulia.statement_seconds": round(asked.seconds, 6)}
        span = self._tracer.start_span(name, kind=kind, start_time=moment(asked.began), attributes=about)
        below = self._below(span)
        for one in asked.asked:
            told = {"db.system.name": "postgresql"}
            child = self._tracer.start_span(
                one.name, context=below, kind=self._kinds.CLIENT, start_time=moment(one.began), attributes=told
            )
            child.end(moment(one.ended))
        if failed:
            span.set_status(self._failed)
        span.end()


class Process:
    """Whether this process tells traces, and how."""

    traces: Traces | None = None


@contextmanager
def traced(settings: Settings, process: str) -> Iterator[None]:
    """Tell traces meanwhile, if somebody collects them."""
    if not settings.traces_url:
        yield
        return
    provider = _provider(settings, process)
    Process.traces = Traces(provider.get_tracer("tertulia", __version__), settings.traces_share)
    statements.Counting.kind = NamedStatements
    try:
        yield
    finally:
        Process.traces, statements.Counting.kind = None, Statements
        provider.force_flush(FLUSH_MILLISECONDS)
        provider.shutdown()


def _provider(settings: Settings, process: str) -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError("traces_url needs the extra: pip install 'tertulia[traces]'") from error
    about = {"service.name": "tertulia", "service.version": __version__, "tertulia.process": process}
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.traces_url)))
    return provider


class Work:
    """A piece of work under way; whoever does it says how much it was."""

    pieces = 0


@contextmanager
def working(name: str) -> Iterator[Work]:
    """A span around work that no request asked for, in a task of its own."""
    work = Work()
    if Process.traces is None:
        yield work
        return
    asked = count_anew()
    try:
        yield work
    except Exception:
        Process.traces.work(name, asked, work.pieces, failed=True)
        raise
    if Process.traces is not None:
        Process.traces.work(name, asked, work.pieces, failed=False)
