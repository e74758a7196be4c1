"""Makes the database of a release: an organization with something of everything, made through the front door of that release.

    TERTULIA_POSTGRES_BIN=/usr/lib/postgresql/15/bin .venv/bin/python -m tests.upgrade.make_database

Run it once for each release, on its tag, with the oldest PostgreSQL that is supported. It writes two files into `databases/`:
the database as SQL, and what some people see of it, which every later version must show them as well.
"""

import gzip
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tertulia import __version__
from tertulia.engines import find_postgres
from tertulia.kernel.settings import load_settings
from tests.harness.hostile import image
from tests.harness.server import OwnServer
from tests.harness.talk import check_success, encoded
from tests.upgrade.seen import seen_by

DATABASES = Path(__file__).with_name("databases")
YEARS = 86_400 * 3650
"""Nothing of it is due before the tests are run."""


class Maker:
    """Acts through HTTP, as one of the people of the demo organization."""

    def __init__(self, server: OwnServer) -> None:
        self.server = server
        self.people = {"owner": server.owner, "ann": server.members[0], "bob": server.members[1], "guest": server.guest}

    def do(self, who: str, method: str, path: str, **fields: object) -> Any:
        with self.server.client(self.people[who]) as client:
            return check_success(client.request(method, path, data=encoded(fields)))

    def upload(self, who: str, path: str, name: str, content: bytes) -> Any:
        with self.server.client(self.people[who]) as client:
            return check_success(client.post(path, files={"file": (name, content)}))

    def say(self, who: str, content: str, *, to: object = None, topic: str = "tea") -> int:
        address = {"type": "direct", "to": to} if to else {"type": "channel", "to": self.channel, "topic": topic}
        sent: int = self.do(who, "POST", "messages", content=content, **address)["id"]
        return sent

    @property
    def channel(self) -> int:
        return next(iter(self.server.channels.values()))

    def make(self) -> None:
        self._organization()
        self._messages()
        self._own_things()

    def _organization(self) -> None:
        ann, bob = (self.people[name].user_id for name in ("ann", "bob"))
        self.do("owner", "PATCH", "realm", description="Where we talk.")
        self.do(
            "owner",
            "POST",
            "users/me/subscriptions",
            subscriptions=[{"name": "private"}],
            invite_only=True,
            principals=[ann],
        )
        self.do("owner", "POST", "user_groups/create", name="cooks", description="They cook.", members=[ann, bob])
        self.do("owner", "POST", "realm/filters", pattern="#(?P<id>[0-9]+)", url_template="https://example.com/{id}")
        self.do(
            "owner",
            "POST",
            "realm/playgrounds",
            name="Try",
            pygments_language="Python",
            url_template="https://example.com/{code}",
        )
        self.do("owner", "POST", "realm/profile_fields", name="Town", hint="Where you live", field_type=1)
        self.upload("owner", "realm/emoji/teapot", "teapot.png", image())
        self.do("owner", "POST", "channel_folders/create", name="Home", description="")

    def _messages(self) -> None:
        ann, bob, guest = (self.people[name].user_id for name in ("ann", "bob", "guest"))
        first = self.say("ann", "Who wants **tea**? @**all** #12 :teapot:")
        self.do("bob", "POST", f"messages/{first}/reactions", emoji_name="tada")
        self.do("owner", "POST", f"messages/{first}/reactions", emoji_name="teapot")
        wrong = self.say("bob", "Me, plaese.")
        self.do("bob", "PATCH", f"messages/{wrong}", content="Me, please.")
        moved = self.say("ann", "And cake.", topic="cake")
        self.do("owner", "PATCH", f"messages/{moved}", topic="sweets", propagate_mode="change_all")
        gone = self.say("owner", "Never mind.")
        self.do("owner", "DELETE", f"messages/{gone}")
        file = self.upload("ann", "user_uploads", "recipe.txt", b"Water and leaves.")
        self.say("ann", f"[recipe]({file['uri']})")
        self.say("ann", "/poll Green or black?\nGreen\nBlack")
        self.say("ann", "Between us.", to=[bob])
        self.say("bob", "All three of us.", to=[ann, guest])
        self.do("ann", "POST", "messages/flags", messages=[first, wrong], op="add", flag="starred")
        self.do("ann", "POST", "messages/flags", messages=[wrong], op="add", flag="read")

    def _own_things(self) -> None:
        later = int(time.time()) + YEARS
        self.do("ann", "POST", "users/me/alert_words", alert_words=["Kettle", "sugar bowl"])
        self.do("ann", "POST", "users/me/status", status_text="Brewing", emoji_name="tada")
        self.do("ann", "POST", "user_topics", stream_id=self.channel, topic="tea", visibility_policy=3)
        self.do("ann", "POST", f"users/me/muted_users/{self.people['guest'].user_id}")
        self.do("ann", "POST", "drafts", drafts=[{"type": "", "to": [], "topic": "", "content": "Dear all"}])
        self.do("ann", "POST", "saved_snippets", title="Thanks", content="Thank you!")
        to_bob = [self.people["bob"].user_id]
        self.do(
            "ann",
            "POST",
            "scheduled_messages",
            type="direct",
            to=to_bob,
            content="Later",
            scheduled_delivery_timestamp=later,
        )
        self.do("ann", "PATCH", "settings", twenty_four_hour_time=True)
        self.do("bob", "DELETE", "users/me/subscriptions", subscriptions=[next(iter(self.server.channels))])


def main() -> None:
    DATABASES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tertulia-database-") as folder:
        server = OwnServer.start(Path(folder), from_nothing=True)
        try:
            maker = Maker(server)
            maker.make()
            people = {name: {"email": one.email, "key": one.api_key} for name, one in maker.people.items()}
            seen = {name: seen_by(server.url, one["email"], one["key"]) for name, one in people.items()}
            dumped = subprocess.run(
                [
                    str(find_postgres(load_settings()) / "pg_dump"),
                    "--inserts",
                    "--rows-per-insert=100",
                    "--no-owner",
                    "--no-privileges",
                    server.postgres_url,
                ],
                capture_output=True,
                check=True,
            ).stdout
            kept = {"people": people, "sealing_keys": server.sealing_keys.read_text(), "seen": seen}
        finally:
            server.stop()
    (DATABASES / f"{__version__}.sql.gz").write_bytes(gzip.compress(_plain(dumped), mtime=0))
    (DATABASES / f"{__version__}.json.gz").write_bytes(
        gzip.compress(json.dumps(kept, sort_keys=True).encode(), mtime=0)
    )
    print(f"{DATABASES / __version__}: {len(dumped):,} bytes of SQL")


def _plain(dumped: bytes) -> bytes:
    """Without what only psql understands, and settings that an older or newer PostgreSQL does not know."""
    unwanted = (b"\\", b"SET ", b"--", b"SELECT pg_catalog.set_config")
    return b"\n".join(line for line in dumped.split(b"\n") if line.strip() and not line.startswith(unwanted)) + b"\n"


if __name__ == "__main__":
    main()
