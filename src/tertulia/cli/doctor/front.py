"""What `tertulia doctor` says of the way from outside: through the proxy, as clients come.

The public address is asked while the server runs: whether the Host header arrives, whether a file may be as large as we say, and
whether it is passed on as it comes; `answers` does the same for what the server says. For files only the beginning of an upload
is sent, by nobody: whoever refuses it does so without the rest, unless a proxy keeps it until it is whole.
"""

import http.client
import re
import ssl
import time
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from tertulia.cli.doctor import Advice, Several
from tertulia.cli.doctor.answers import check_answers
from tertulia.cli.doctor.way import connected, directly
from tertulia.kernel.settings import Settings

ASK_SECONDS: Final = 10.0
UPLOAD_SECONDS: Final = 3.0
PATIENCE_SECONDS: Final = (3.0, 6.0, 12.0)
"""For each try, before it is said that a proxy collects: one that does never answers, and one that is busy does in the end."""
PROMPT_SECONDS: Final = 1.0
"""Where our own answer takes longer, nothing is said of a proxy's."""
BEGINNING: Final = bytes(64 * 1024)
"""More than a proxy holds back by chance: Caddy sends nothing on before it has 4 KiB."""
MORE: Final = bytes(1024)
CHUNK: Final = 65536
MORE_SECONDS: Final = 0.2
_ASKED: Final = "/api/v1/server_settings"
_UPLOAD: Final = "/api/v1/user_uploads"
_NOBODY: Final = "no-such-organization"
_HOST_LOST: Final = (
    "the proxy does not pass the Host header on, by which the organization is found:"
    " let it (nginx: proxy_set_header Host $host)"
)


class Answer(NamedTuple):
    """What came, of a server or of a proxy by itself."""

    status: int
    body: bytes

    def says(self, key: str, value: str) -> bool:
        """Whether it is an answer of ours with that in it."""
        try:
            return bool(msgspec.json.decode(self.body)[key] == value)
        except (msgspec.DecodeError, LookupError, TypeError):
            return False


def look_at_front(settings: Settings, *, is_dev: bool, is_thorough: bool) -> str:
    """What holds; raises for what is wrong."""
    if is_dev:
        return "`tertulia dev` has none"
    address = settings.url_of("")
    if not _serves(settings):
        return f"not looked at, because no web process answers at {settings.host}:{settings.port}"
    try:
        answer, stranger = _ask(settings), _ask(settings, Host=f"{_NOBODY}.{settings.external_host}")
    except ssl.SSLCertVerificationError as problem:
        raise Advice(f"the certificate of {address} is not trusted here: {problem.verify_message}") from problem
    except (OSError, http.client.HTTPException) as problem:
        raise Advice(f"{address} cannot be reached from here: {problem!r}") from problem
    # By another name for us a request is for the main organization, whatever its Host was, or for none.
    if answer.says("code", "NONEXISTENT_SUBDOMAIN") or stranger.says("result", "success"):
        raise Several([_HOST_LOST])
    if answer.status != http.client.OK:
        raise Several([f"{address} answers {answer.status}: does the proxy lead to {settings.host}:{settings.port}?"])
    _check_upload(settings)
    said = check_answers(settings, is_thorough=is_thorough)
    return f"{address} leads here, with its Host header, and takes large files as they come; {said}"


def _check_upload(settings: Settings) -> None:
    size = settings.max_file_upload_size_mib
    try:
        answer = _begin_upload(settings, UPLOAD_SECONDS)
    except TimeoutError:
        _check_whether_it_collects(settings)
        return
    except (OSError, http.client.HTTPException) as problem:
        raise Advice(f"an upload through the proxy ended early: {problem!r}") from problem
    if answer.status == http.client.REQUEST_ENTITY_TOO_LARGE:
        raise Several([f"the proxy refuses files of {size} MiB, which people may send: nginx: client_max_body_size"])
    if answer.status >= http.client.INTERNAL_SERVER_ERROR:
        raise Several([f"an upload is answered {answer.status}: the log of the proxy says why"])


def _check_whether_it_collects(settings: Settings) -> None:
    """Several tries, each more patient, and nothing is said unless all of them say the same while our own process answers
    promptly: a machine that is busy is no buffer."""
    for seconds in PATIENCE_SECONDS:
        began = time.monotonic()
        try:
            with directly(settings, PROMPT_SECONDS) as connection:
                _send_beginning(connection, settings, PROMPT_SECONDS)
        except (OSError, http.client.HTTPException):
            return
        if time.monotonic() - began > PROMPT_SECONDS:
            return
        try:
            _begin_upload(settings, seconds)
        except TimeoutError:
            continue
        except (OSError, http.client.HTTPException):
            pass
        return
    raise Advice(
        "the proxy collects uploads before it passes them on: progress is not seen, and its disk holds what the server refuses"
        " (nginx: proxy_request_buffering off)"
    )


def _serves(settings: Settings) -> bool:
    """Whether our own process answers, without a proxy."""
    with directly(settings, ASK_SECONDS) as connection:
        try:
            connection.request("GET", _ASKED, headers={"Host": settings.external_host})
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


def _ask(settings: Settings, **headers: str) -> Answer:
    with connected(settings, ASK_SECONDS) as connection:
        connection.request("GET", _ASKED, headers=headers)
        return _answer(connection)


def _begin_upload(settings: Settings, seconds: float) -> Answer:
    with connected(settings, seconds) as connection:
        return _send_beginning(connection, settings, seconds)


def _send_beginning(connection: http.client.HTTPConnection, settings: Settings, seconds: float) -> Answer:
    """The first bytes of a large file, and a few more from time to time: a proxy that is written in Go, as Caddy is, hands on
    an answer only when it is not just waiting for more to read."""
    connection.putrequest("POST", _UPLOAD, skip_host=True)
    connection.putheader("Host", settings.external_host)
    connection.putheader("Content-Type", "multipart/form-data; boundary=x")
    connection.putheader("Content-Length", str(settings.max_file_upload_size_mib * 1024 * 1024))
    connection.endheaders()
    with suppress(BrokenPipeError, ConnectionResetError):  # who refuses the head has answered
        connection.send(BEGINNING)
        connection.sock.settimeout(MORE_SECONDS)
        for _ in range(int(seconds / MORE_SECONDS)):
            # Not asked for by its socket: one that is encrypted has things to read that are no answer.
            with suppress(TimeoutError):
                return _status_in(connection.sock.recv(CHUNK))
            connection.send(MORE)
        raise TimeoutError
    return _answer(connection)


def _status_in(beginning: bytes) -> Answer:
    """How an answer begins, of which no more is asked."""
    found = re.match(rb"HTTP/1\.[01] (\d{3})", beginning)
    if found is None:
        raise http.client.BadStatusLine(repr(beginning[:100]))
    return Answer(int(found[1]), beginning)


def _answer(connection: http.client.HTTPConnection) -> Answer:
    reply = connection.getresponse()
    return Answer(reply.status, reply.read(100_000))
