"""A collector of traces: takes OTLP over HTTP on a free port of this machine, and keeps the spans that come."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Span(NamedTuple):
    """What came, in plain types."""

    process: str
    name: str
    id: bytes
    parent: bytes
    about: dict[str, Any]
    seconds: float
    has_failed: bool


class Collector:
    """`spans` are all that came so far; `raw` is all that was sent."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.raw = b""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def take(self, body: bytes) -> None:
        """What an exporter has sent."""
        self.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            process = _plain(resource.resource.attributes)["tertulia.process"]
            for scope in resource.scope_spans:
                self.spans += [
                    Span(
                        process,
                        span.name,
                        span.span_id,
                        span.parent_span_id,
                        _plain(span.attributes),
                        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                        span.status.code == 2,
                    )
                    for span in scope.spans
                ]

    def below(self, parent: Span) -> list[Span]:
        """The spans below this one."""
        return [span for span in self.spans if span.parent == parent.id]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def _plain(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    try:
        yield collector
    finally:
        collector.stop()
