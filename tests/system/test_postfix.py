"""Mail in behind Debian's real Postfix: by LMTP, tried again when we could not take it, and told when we never will."""

import os
import shutil
import smtplib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from email.policy import SMTP
from pathlib import Path

import pytest

from tertulia.engines import free_port
from tests.harness.mail_role import letter, mail_role
from tests.harness.server import MAIL_IN, OwnServer, Server
from tests.harness.talk import Speaker, check_success, eventually

pytestmark = pytest.mark.system
POSTFIX = Path("/usr/sbin/postfix")
DOMAIN = MAIL_IN.rpartition("@")[2]


class Postfix:
    """An instance of its own: configuration, queue and port."""

    def __init__(self, folder: Path, lmtp_port: int) -> None:
        self.port, self._config = free_port(), folder / "config"
        self._queue, data = folder / "queue", folder / "data"
        self.log = folder / "postfix.log"
        for made in (self._config, self._queue, data):
            made.mkdir(parents=True)
        shutil.chown(data, "postfix")
        folder.chmod(0o755)
        folder.parent.chmod(0o755)
        (self._config / "main.cf").write_text(
            "compatibility_level = 3.6\n"
            f"queue_directory = {self._queue}\ndata_directory = {data}\nmaillog_file = {self.log}\n"
            f"maillog_file_prefixes = {folder}\ninet_interfaces = 127.0.0.1\ninet_protocols = ipv4\n"
            "mynetworks = 127.0.0.0/8\nmydestination =\nalias_maps =\nmyhostname = mx.example.com\n"
            f"relay_domains = {DOMAIN}\nrecipient_delimiter = +\n"
            f"transport_maps = inline:{{ {DOMAIN}=lmtp:inet:127.0.0.1:{lmtp_port} }}\n"
            "minimal_backoff_time = 1s\nmaximal_backoff_time = 2s\nqueue_run_delay = 1s\n"
            "fast_flush_domains =\ndefault_transport = error:nobody is written to here\n"
        )
        kinds = (
            f"127.0.0.1:{self.port} inet n - n - - smtpd\n"
            "pickup unix n - n 60 1 pickup\ncleanup unix n - n - 0 cleanup\nqmgr unix n - n 300 1 qmgr\n"
            "rewrite unix - - n - - trivial-rewrite\nbounce unix - - n - 0 bounce\ndefer unix - - n - 0 bounce\n"
            "trace unix - - n - 0 bounce\nerror unix - - n - - error\nretry unix - - n - - error\n"
            "lmtp unix - - n - - lmtp\nproxymap unix - - n - - proxymap\ntlsmgr unix - - n 1000? 1 tlsmgr\n"
            "anvil unix - - n - 1 anvil\nscache unix - - n - 1 scache\npostlog unix-dgram n - n - 1 postlogd\n"
        )
        (self._config / "master.cf").write_text(kinds)

    def run(self, *arguments: str) -> None:
        done = subprocess.run(
            [str(POSTFIX), "-c", str(self._config), *arguments], check=False, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr + done.stdout

    def take(self, mail: bytes, sender: str, to: str) -> None:
        with smtplib.SMTP("127.0.0.1", self.port, timeout=30) as smtp:
            smtp.sendmail(sender, [to], mail)


@contextmanager
def postfix(folder: Path, lmtp_port: int) -> Iterator[Postfix]:
    running = Postfix(folder, lmtp_port)
    running.run("start")
    try:
        yield running
    finally:
        running.run("stop")


@pytest.fixture
def owner(own: OwnServer) -> Iterator[Speaker]:
    speaker = Speaker(own, own.owner)
    with speaker.http:
        yield speaker


@pytest.fixture
def own(server: Server) -> OwnServer:
    if not isinstance(server, OwnServer):
        pytest.skip("mail can be handed in only where the server runs")
    if os.geteuid() != 0 or not POSTFIX.exists():
        if os.environ.get("CI"):
            pytest.fail("Postfix is needed, and root to run it")
        pytest.skip("needs Debian's Postfix, and root to run it")
    return server


@pytest.mark.timeout(400)
def test_postfix_hands_mail_on_tries_again_and_tells_who_is_refused(
    own: OwnServer, owner: Speaker, folder: Path
) -> None:
    channel_id = own.channels[sorted(own.channels)[0]]
    path = f"streams/{channel_id}/email_address"
    to = check_success(owner.request("POST", path))["email"]

    def subjects() -> list[str]:
        narrow = [{"operator": "channel", "operand": channel_id}, {"operator": "sender", "operand": owner.email}]
        found = owner.get("messages", anchor="newest", num_before=20, num_after=0, narrow=narrow)["messages"]
        return [message["subject"] for message in found if message["subject"].startswith("Postfix")]

    lmtp_port = free_port()
    with postfix(folder / "postfix", lmtp_port) as mta:
        # Nobody listens yet: it waits in the queue.
        mta.take(letter("First words.", "Postfix one").as_bytes(policy=SMTP), "bob@example.com", to)
        eventually(lambda: "status=deferred" in mta.log.read_text(), 60)
        assert subjects() == []
        with mail_role(own, folder, lmtp_port):
            eventually(lambda: subjects() == ["Postfix one"], 180)  # when it tries again is its own affair
            mta.take(letter("More words.", "Postfix two").as_bytes(policy=SMTP), "bob@example.com", to)
            eventually(lambda: subjects() == ["Postfix one", "Postfix two"], 60)
            check_success(owner.request("DELETE", path))
            mta.take(letter("Too late.", "Postfix three").as_bytes(policy=SMTP), "bob@example.com", to)
            eventually(lambda: "status=bounced" in mta.log.read_text(), 60)
            assert "550 5.1.1 Nobody is at this address" in mta.log.read_text()
        assert mta.log.read_text().count("status=sent (250 2.0.0 Ok)") == 2
        assert subjects() == ["Postfix one", "Postfix two"]
