"""The files for nginx, Caddy and HAProxy in deploy/debian, as they are shipped, and run."""

import base64
import http.client
import json
import re
import shutil
import signal
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tertulia.engines import ChildProcess, free_port
from tests.harness.certificates import Authority
from tests.harness.server import OwnServer, User
from tests.harness.stage import Web
from tests.harness.talk import eventually

pytestmark = pytest.mark.system

SHIPPED = Path(__file__).parents[2] / "deploy" / "debian"
FILES = {"nginx": "nginx.conf", "caddy": "tertulia.caddy", "haproxy": "haproxy.cfg"}
PROXIES = list(FILES)
NGINX_FRAME = """user root; pid {folder}/nginx.pid; error_log {folder}/nginx.log; daemon off; events {{}}
http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
uwsgi_temp_path {folder}; scgi_temp_path {folder};
{lines}
}}"""
CADDY_FRAME = "{{\n    admin off\n    auto_https off\n}}\n{lines}"
HEARTBEAT = 62
"""Seconds; the bounds of proxies are a minute, unless they are told otherwise."""


class Front(NamedTuple):
    """A proxy in front of a web process."""

    port: int
    plain: int
    """Where it speaks plain HTTP."""
    trust: ssl.SSLContext

    def client(self, user: User | None = None, *, source: str = "127.0.0.1") -> httpx.Client:
        auth = (user.email, user.api_key) if user else None
        transport = httpx.HTTPTransport(local_address=source, verify=self.trust)
        return httpx.Client(base_url=f"https://localhost:{self.port}", auth=auth, transport=transport, timeout=120)


@pytest.fixture(scope="module")
def web(server: OwnServer, shared_folder: Path) -> Iterator[Web]:
    limits = {"rate_limits": "true", "address_rate": "5/3600", "user_rate": "1000/60"}
    waits = {"heartbeat_seconds": HEARTBEAT, "heartbeat_jitter_seconds": 0}
    web = Web(server, shared_folder, **limits, **waits)
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture(scope="module")
def fronts(web: Web, shared_folder: Path) -> Iterator[dict[str, Front]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(running(name, web, shared_folder / name)) for name in PROXIES}


@pytest.fixture(scope="module", autouse=True)
def heartbeats(fronts: dict[str, Front], server: OwnServer) -> Iterator[list["Future[float]"]]:
    """How long a poll of each waits on which nothing happens. They wait while the other tests run."""
    with ThreadPoolExecutor() as threads:
        yield [threads.submit(poll, front, server.owner) for front in fronts.values()]


@contextmanager
def running(name: str, web: Web, folder: Path, change: tuple[str, str] = ("", "")) -> Iterator[Front]:
    """`change`: lines of the file, and what stands there instead."""
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    assert program, f"{name} is missing: apt-get install {name} (the .ci/run script does it as root)"
    folder.mkdir()
    port, plain = free_port(), free_port()
    authority = Authority(folder, "authority")
    command = command_of(name, program, folder, (port, plain), web, authority)
    if change[0]:
        text = (folder / "config").read_text()
        assert change[0] in text
        (folder / "config").write_text(text.replace(*change))
    process = ChildProcess(command, folder / "output.log")
    process.start()
    try:
        eventually(lambda: listens(port) and listens(plain))
        yield Front(port, plain, ssl.create_default_context(cafile=str(authority.file)))
    finally:
        process.stop(signal.SIGTERM, 20)


@pytest.fixture(params=PROXIES)
def front(request: pytest.FixtureRequest, fronts: dict[str, Front]) -> Front:
    return fronts[request.param]


def command_of(
    name: str, program: str, folder: Path, ports: tuple[int, int], web: Web, authority: Authority
) -> list[str]:
    """The lines that we ship, with places of our own, in a file; and how the program is started with it."""
    port, plain = ports
    certificate, key = authority.vouch("server", "localhost")
    both = folder / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    lines = (SHIPPED / FILES[name]).read_text().replace("127.0.0.1:9991", f"127.0.0.1:{web.url.rpartition(':')[2]}")
    lines = lines.replace("/etc/ssl/chat.example.com.both.pem", str(both))
    lines = lines.replace("/etc/ssl/chat.example.com.pem", str(certificate)).replace(
        "/etc/ssl/chat.example.com.key", str(key)
    )
    file = folder / "config"
    match name:
        case "nginx":
            lines = lines.replace("listen 443", f"listen 127.0.0.1:{port}").replace("chat.example.com", "localhost")
            lines = lines.replace("listen 80;", f"listen 127.0.0.1:{plain};")
            file.write_text(NGINX_FRAME.format(folder=folder, lines=lines))
            return [program, "-c", str(file), "-p", str(folder)]
        case "caddy":
            site = f"https://localhost:{port} {{\n    bind 127.0.0.1\n    tls {certificate} {key}"
            lines = lines.replace("http://chat.example.com {", f"http://localhost:{plain} {{\n    bind 127.0.0.1")
            file.write_text(CADDY_FRAME.format(lines=lines.replace("chat.example.com {", site)))
            return [program, "run", "--adapter", "caddyfile", "--config", str(file)]
        case _:
            lines = lines.replace("bind :80", f"bind 127.0.0.1:{plain}")
            file.write_text(lines.replace("bind :443", f"bind 127.0.0.1:{port}"))
            return [program, "-db", "-f", str(file)]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_longest_address_and_large_headers_go_through(front: Front, server: OwnServer) -> None:
    start = "/api/v1/users/me?stray="
    longest = start + "x" * (256 * 1024 - len(start))
    status, body = ask_plainly(front, longest, server.owner)
    assert (status, body["ignored_parameters_unsupported"]) == (200, ["stray"])
    assert ask_plainly(front, f"{longest}x", server.owner)[0] == 414


def ask_plainly(front: Front, target: str, user: User) -> tuple[int, dict[str, Any]]:
    """By a library that takes long addresses."""
    credentials = base64.b64encode(f"{user.email}:{user.api_key}".encode()).decode()
    connection = http.client.HTTPSConnection("localhost", front.port, timeout=60, context=front.trust)
    try:
        headers = {"Authorization": f"Basic {credentials}", "X-Long": "y" * 60_000}
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


OLD = (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)
WEAK = "AES128-SHA:AES256-SHA:AES256-GCM-SHA384:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version", OLD)
def test_old_tls_is_refused(front: Front, version: ssl.TLSVersion) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shake_hands(front, version, "ALL:@SECLEVEL=0")


def test_suites_without_forward_secrecy_or_authentication_are_refused(front: Front) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shake_hands(front, ssl.TLSVersion.TLSv1_2, f"{WEAK}:@SECLEVEL=0")
    suite, version = shake_hands(front, ssl.TLSVersion.TLSv1_2, f"{WEAK}:ECDHE+AESGCM:@SECLEVEL=0")
    assert version == "TLSv1.2"
    assert suite.startswith("ECDHE-")
    assert "GCM" in suite
    assert shake_hands(front, ssl.TLSVersion.TLSv1_3, "ALL")[1] == "TLSv1.3"


def shake_hands(front: Front, newest: ssl.TLSVersion, suites: str) -> tuple[str, str]:
    """The suite and the version that a client gets who knows these and nothing newer."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = newest
    context.set_ciphers(suites)
    with (
        socket.create_connection(("127.0.0.1", front.port), timeout=20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as talking,
    ):
        cipher, version = talking.cipher(), talking.version()
        assert cipher
        assert version
        return cipher[0], version


def test_without_tls_people_are_sent_to_the_right_address_and_programs_are_refused(front: Front) -> None:
    with httpx.Client(base_url=f"http://localhost:{front.plain}", trust_env=False) as client:
        page = client.get("/")
        assert page.status_code == 301
        assert page.headers["location"].startswith("https://localhost")
        for method, path in (("GET", "/api/v1/server_settings"), ("POST", "/api/v1/messages"), ("GET", "/avatar/1")):
            refused = client.request(method, path)
            assert (refused.status_code, refused.headers.get("location")) == (403, None)


def test_a_link_that_lost_its_beginning_leads_a_person_to_where_it_should(front: Front) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
    with httpx.Client(base_url=f"http://localhost:{front.plain}", trust_env=False, headers=browser) as client:
        page = client.get("/join/some-key?plain=true")
        assert page.status_code == 301
        assert re.fullmatch(r"https://localhost(:\d+)?/join/some-key\?plain=true", page.headers["location"])
        for method, path in (("GET", "/api/v1/server_settings"), ("POST", "/join")):
            refused = client.request(method, path)
            assert (refused.status_code, refused.headers.get("location")) == (403, None)
        said = client.get("/avatar/1", headers={"Accept": "image/png"})
        assert (said.status_code, said.text.strip()) == (403, "This server speaks https:// only.")


def test_who_names_a_client_of_their_own_is_not_believed(front: Front) -> None:
    network = f"127.1.{front.port % 250}"  # each proxy has clients of its own
    with front.client(source=f"{network}.1") as client:
        statuses = [
            client.get("/api/v1/server_settings", headers={"X-Forwarded-For": f"203.0.113.{n}"}).status_code
            for n in range(8)
        ]
    assert statuses == [200] * 5 + [429] * 3
    with front.client(source=f"{network}.2") as another:
        assert another.get("/api/v1/server_settings").status_code == 200


def test_a_large_file_goes_up_and_down(front: Front, server: OwnServer) -> None:
    content = bytes(range(256)) * 4 * 1024 * 20
    with front.client(server.owner) as client:
        sent = client.post("/api/v1/user_uploads", files={"file": ("large.bin", content)})
        assert sent.status_code == 200, sent.text
        assert client.get(sent.json()["url"]).content == content


@pytest.mark.slow
def test_a_poll_waits_for_its_heartbeat(heartbeats: list["Future[float]"]) -> None:
    assert min(wait.result() for wait in heartbeats) >= HEARTBEAT - 1


def poll(front: Front, user: User) -> float:
    """How long it waits: nobody changes linkifiers here."""
    with front.client(user) as client:
        queue: dict[str, Any] = client.post(
            "/api/v1/register", data={"event_types": json.dumps(["realm_linkifiers"])}
        ).json()
        asked = {"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"]}
        reply = client.get("/api/v1/events", params=asked)
        assert reply.status_code == 200
        assert [event["type"] for event in reply.json()["events"]] == ["heartbeat"]
        return reply.elapsed.total_seconds()
