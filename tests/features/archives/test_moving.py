"""Moving between servers: nothing is lost, and everybody gets in with what they had."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyrage
import pytest

from tertulia.archives.form.moving import MOVING_KINDS
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.sealing import Sealer, sealer_of
from tertulia.kernel.settings import Settings
from tertulia.people.bots.bounds import STORED_CHARACTERS, STORED_KEYS
from tertulia.people.factors.stored_secret import SECRET
from tertulia.people.factors.totp import secret_text
from tertulia.people.users.model import MAX_KEYS
from tests.features.archives.conftest import Archive
from tests.features.archives.moving_clients import Client, Listener, Sender
from tests.features.archives.test_hostile_archives import Lines, rewritten
from tests.harness.authenticator import Authenticator
from tests.harness.command import said_once, tertulia
from tests.harness.forwarder import Forwarder
from tests.harness.passwords import PASSWORD, give_password, hashed
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker, check_error, eventually

TOTP_SECRET = b"twenty bytes of that"
HOOK = {"integration": "github", "secret": "correct horse battery"}


class Move(NamedTuple):
    """Both servers, and what is between them."""

    realm: Realm
    old: OwnServer
    new: OwnServer
    there: Stage
    folder: Path
    key: Path
    recipient: str
    hook_id: int
    hook_token: str

    def run(self, server: OwnServer, *words: str) -> Json:
        done = tertulia("move", *words, "--json", env=environment(server))
        assert done.returncode == 0, done.stderr
        found: Json = json.loads(done.stdout)
        return found

    def refused(self, *words: str) -> str:
        return said_once(tertulia(*words, env=environment(self.new)))

    def out(self, file: Path) -> Json:
        return self.run(self.old, "out", self.realm.subdomain, str(file), "--to", self.recipient)

    def taking_in(self, file: Path, subdomain: str | None = None, key: Path | None = None) -> tuple[str, ...]:
        where = self.realm.subdomain if subdomain is None else subdomain
        return "in", str(file), "--subdomain", where, "--identity", str(key or self.key)

    def person(self, speaker: Speaker) -> Speaker:
        """With the key that they had."""
        return self.there.speaker(speaker.user, host=self.realm.host)


def environment(server: OwnServer) -> dict[str, str]:
    return server.environment(external_host=server.url.partition("://")[2])


def sealer(server: OwnServer) -> Sealer:
    return sealer_of(Settings(sealing_key_file=str(server.sealing_keys)))


def token_of(owner: Speaker, bot_id: int) -> str:
    state = owner.post("register", event_types=[], fetch_event_types=["realm_bot"])
    [found] = [bot["services"][0]["token"] for bot in state["realm_bots"] if bot["user_id"] == bot_id]
    return str(found)


@pytest.fixture(scope="module")
def move(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Move]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    folder = tmp_path_factory.mktemp("moving")
    new = OwnServer.start(tmp_path_factory.mktemp("new"))
    try:
        backstage_there = Backstage(new)
        stage, there = Stage(server, backstage), Stage(new, backstage_there)
        realm = Realm(stage)
        hook, token = furnish(realm, server)
        key = folder / "key.txt"
        recipient = json.loads(tertulia("move", "key", str(key), "--json").stdout)["recipient"]
        yield Move(realm, server, new, there, folder, key, recipient, hook, token)
        stage.close()
        there.close()
        backstage_there.close()
    finally:
        new.stop()


def furnish(realm: Realm, server: OwnServer) -> tuple[int, str]:
    """All that opens an account. Returns an outgoing webhook, and its token."""
    stage, member = realm.stage, realm.member
    give_password(stage, realm.owner, member)
    sealed = sealer(server).seal(SECRET, TOTP_SECRET)
    stage.sql("insert into second_factor (user_id, secret, is_confirmed) values (%s, %s, true)", realm.owner.id, sealed)
    digest = digest_of_key("recovery")
    stage.sql("insert into recovery_code (user_id, digest) values (%s, %s)", realm.owner.id, digest)
    about = {"full_name": "Hook", "short_name": "hook", "bot_type": 3, "payload_url": json.dumps("http://example.com/")}
    hook = member.post("bots", **about)["user_id"]
    incoming = member.post("bots", full_name="Incoming", short_name="incoming", bot_type=2)["user_id"]
    member.post(f"bots/{incoming}/webhook_secret", **HOOK)
    return hook, token_of(member, hook)


@pytest.fixture(scope="module")
def frozen_file(move: Move) -> Path:
    """A moving archive, of an organization that then stays after all."""
    file = move.folder / "first.age"
    move.run(move.old, "freeze", move.realm.subdomain)
    move.out(file)
    move.run(move.old, "thaw", move.realm.subdomain)
    return file


def test_a_moving_archive_is_for_the_key_of_the_other_server_alone(move: Move, frozen_file: Path) -> None:
    content = frozen_file.read_bytes()
    assert frozen_file.stat().st_mode & 0o777 == 0o600
    for plain in (hashed().encode(), move.hook_token.encode(), b"manifest.json", move.realm.member.email.encode()):
        assert plain not in content
    other = move.folder / "other.txt"
    tertulia("move", "key", str(other))
    assert "needs the secret key" in move.refused("move", *move.taking_in(frozen_file, "wrong", other))
    flipped, cut = move.folder / "flipped.age", move.folder / "cut.age"
    flipped.write_bytes(content[:-1000] + bytes([content[-1000] ^ 1]) + content[-999:])
    cut.write_bytes(content[: len(content) // 2])
    for file in (flipped, cut):
        assert "was changed or not copied whole" in move.refused("move", *move.taking_in(file, "wrong"))
    assert move.there.sql("select count(*) from realm where subdomain = 'wrong'") == [(0,)]


def test_moving_archives_and_exports_are_not_taken_for_each_other(move: Move, frozen_file: Path) -> None:
    exported, opened = move.folder / "export.tar", move.folder / "opened.tar"
    done = tertulia("export", move.realm.subdomain, str(exported), env=environment(move.old))
    assert done.returncode == 0, done.stderr
    archive = Archive.read(exported)
    assert not {name.split("/")[0] for name in archive.entries} & MOVING_KINDS.keys()
    digest = digest_of_key(move.realm.member.user.api_key or "").hex()
    for secret in (hashed(), move.hook_token, HOOK["secret"], digest, TOTP_SECRET.hex()):
        assert secret.encode() not in exported.read_bytes()
    assert "tertulia import archive" in move.refused("move", *move.taking_in(exported, "wrong"))
    assert "tertulia move in" in move.refused("import", "archive", str(frozen_file), "--subdomain", "wrong")
    identity = pyrage.x25519.Identity.from_str(move.key.read_text().splitlines()[-1])
    opened.write_bytes(pyrage.decrypt(frozen_file.read_bytes(), [identity]))
    assert digest.encode() in opened.read_bytes()  # so the test above would have found it
    for words in (("import", "archive", str(opened), "--subdomain", "wrong"), ("archive", "check", str(opened))):
        assert "tertulia move in" in move.refused(*words)
    repacked = move.folder / "export.age"
    repacked.write_bytes(pyrage.encrypt(exported.read_bytes(), [identity.to_public()]))
    assert "no moving archive" in move.refused("move", *move.taking_in(repacked, "wrong"))
    not_frozen = tertulia("move", "out", move.realm.subdomain, "x", "--to", move.recipient, env=environment(move.old))
    assert "tertulia move freeze" in said_once(not_frozen)
    assert "not frozen" in said_once(tertulia("move", "done", move.realm.subdomain, env=environment(move.old)))


DEAR = "$argon2id$v=19$m=8,t=4294967295,p=1$c2FsdHNhbHRzYWx0c2FsdA$" + 43 * "A"


def refused_if(move: Move, frozen_file: Path, change: Callable[[Lines], None]) -> str:
    """What is said about the archive with that change."""
    identity = pyrage.x25519.Identity.from_str(move.key.read_text().splitlines()[-1])
    plain, hostile = move.folder / "plain.tar", move.folder / "hostile.tar"
    plain.write_bytes(pyrage.decrypt(frozen_file.read_bytes(), [identity]))
    rewritten(Archive.read(plain), hostile, change)
    hostile.write_bytes(pyrage.encrypt(hostile.read_bytes(), [identity.to_public()]))
    return move.refused("move", *move.taking_in(hostile, "wrong"))


def test_a_moving_archive_brings_no_password_that_takes_years_to_check(move: Move, frozen_file: Path) -> None:
    def change(lines: Lines) -> None:
        next(one for one in lines["credentials"] if one["password_hash"])["password_hash"] = DEAR

    assert "would cost too much to check" in refused_if(move, frozen_file, change)


def test_a_moving_archive_brings_no_more_than_accounts_may_have_here(move: Move, frozen_file: Path) -> None:
    def more_keys(lines: Lines) -> None:
        about = next(one for one in lines["credentials"] if one["keys"])
        about["keys"] = [about["keys"][0] | {"digest": f"{number:064x}"} for number in range(MAX_KEYS + 1)]

    def store(*kept: tuple[str, str]) -> Callable[[Lines], None]:
        def change(lines: Lines) -> None:
            lines["bot_storage"] = [{"user_id": move.hook_id, "key": key, "value": value} for key, value in kept]

        return change

    assert "API keys" in refused_if(move, frozen_file, more_keys)
    many = [(str(number), "") for number in range(STORED_KEYS.limit + 1)]
    assert "bot_storage_keys" in refused_if(move, frozen_file, store(*many))
    assert "bot_storage_characters" in refused_if(move, frozen_file, store(("k", "x" * STORED_CHARACTERS.limit)))
    assert "characters" in refused_if(move, frozen_file, store(("k" * 501, "")))


def test_clients_that_never_stop_move_with_their_organization_and_lose_nothing(move: Move) -> None:
    realm = move.realm
    channel = realm.stage.channel(*realm.all, realm_id=realm.id)
    with Forwarder(move.old.url) as address:
        url = f"http://localhost:{address.port}"
        people = [realm.as_user(one.user, url=url) for one in realm.all]
        senders = [Sender(one, channel.stream_id) for one in people[:3]]
        listeners = [Listener(one, channel.stream_id) for one in people[2:]]
        clients: list[Client] = [*listeners, *senders]
        for one in clients:
            one.start()
        eventually(lambda: all(len(one.sent) > 5 for one in senders) and all(one.heard for one in listeners))
        began = time.monotonic()
        report = hand_over(move, address)
        took = time.monotonic() - began
        moved = [len(one.sent) for one in senders]
        eventually(lambda: all(len(one.sent) > before + 5 for one, before in zip(senders, moved, strict=True)))
        for one in senders:
            one.stop()
        sent = sorted((pair for one in senders for pair in one.sent), key=lambda pair: pair[1])
        eventually(lambda: all(one.heard[-1] == sent[-1] for one in listeners))
        for one in listeners:
            one.ask_to_stop()
        move.person(realm.owner).send(channel.stream_id, "moving", "the end")  # so that no poll waits any longer
        for one in listeners:
            one.stop()
    assert report["shifts"] == {}
    for listener in listeners:
        assert listener.ended == ["BAD_EVENT_QUEUE_ID"]
        heard = [pair for pair in listener.heard if " says " in pair[0]]
        assert heard == sent[sent.index(heard[0]) :]  # each once, in order
    there = move.person(realm.owner)
    found = there.window(
        "oldest", after=5000, apply_markdown=False, narrow=[{"operator": "channel", "operand": channel.stream_id}]
    )
    assert [(one["content"], one["id"]) for one in found["messages"] if " says " in one["content"]] == sent
    longest = max(one.longest for one in senders)
    assert longest < took + 2, (longest, took)
    print(f"moving took {took:.1f} s, the longest wait of a message was {longest:.1f} s, {len(sent)} messages")
    check_credentials(move)
    check_twice(move)


def hand_over(move: Move, address: Forwarder) -> Json:
    """As the guide says. Returns the report of the import."""
    realm, file = move.realm.subdomain, move.folder / "last.age"
    move.run(move.old, "freeze", realm)
    move.out(file)
    check_a_kill(move, file)
    report = move.run(move.new, *move.taking_in(file))
    address.turn_to(move.new.url)
    done = move.run(move.old, "done", realm, "--url", "https://new.example.com/")
    assert done["moved_to"] == "https://new.example.com"
    return report


def check_a_kill(move: Move, file: Path) -> None:
    """Killed while it writes keys: nobody sees anything, and it goes on."""
    env, visitor = environment(move.new), move.there.nobody(host=move.realm.host)
    with move.there.session() as execute:
        execute("lock table passkey, api_key in share mode")
        command = [sys.executable, "-m", "tertulia", "move", *move.taking_in(file)]
        process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE)
        waits = "select count(*) from pg_stat_activity where application_name like '%%import%%' and wait_event_type = 'Lock'"
        eventually(lambda: move.there.sql(waits) != [(0,)] or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        check_error(visitor.request("GET", "server_settings"), "NONEXISTENT_SUBDOMAIN", 404)
        process.kill()
        process.communicate()


def check_twice(move: Move) -> None:
    """What is here is not brought in once more."""
    again = move.refused("move", *move.taking_in(move.folder / "last.age", "wrong"))
    assert again.endswith(f"at the subdomain '{move.realm.subdomain}': it is here already.")
    assert move.there.sql("select count(*) from realm where subdomain = 'wrong'") == [(0,)]


def check_credentials(move: Move) -> None:
    """Everybody gets in as before, and secrets are sealed for this server."""
    realm, nobody = move.realm, move.there.nobody(host=move.realm.host)
    login = {"username": realm.member.email, "password": PASSWORD}
    assert nobody.post("fetch_api_key", **login)["user_id"] == realm.member.id
    login["username"] = realm.owner.email
    check_error(nobody.request("POST", "sessions", **login), "SECOND_FACTOR_REQUIRED", 401, methods=["code"])
    code = Authenticator(secret_text(TOTP_SECRET)).code()
    assert nobody.post("sessions", **login, code=code)["user_id"] == realm.owner.id
    of_owner = "select digest from recovery_code where user_id = %s"
    assert [bytes(digest) for (digest,) in move.there.sql(of_owner, realm.owner.id)] == [digest_of_key("recovery")]
    member = move.person(realm.member)
    assert token_of(member, move.hook_id) == move.hook_token
    [(secret,)] = move.there.sql("select secret from second_factor where user_id = %s", realm.owner.id)
    assert bytes(secret).decode().startswith(sealer(move.new).current_prefix)
    assert sealer(move.new).open(SECRET, bytes(secret)) == TOTP_SECRET
    [(stored,)] = move.there.sql(
        "select secret from hook_secret join account on account.id = user_id where realm_id = %s", realm.id
    )
    assert stored.startswith(sealer(move.new).current_prefix)
    gone = realm.member.request("GET", "users/me")
    assert gone.status_code == 401
    assert "moved to https://new.example.com" in gone.text
    visitor = realm.stage.nobody(host=realm.host)
    assert visitor.get("server_settings")["realm_url"] == "https://new.example.com"
    assert "https://new.example.com" in visitor.request("POST", "fetch_api_key", **login).text
