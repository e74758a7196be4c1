"""An organization begins in a browser, by the link of whoever runs the server."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tertulia.kernel.db import Transaction
from tertulia.organization.realms.actions import create_realm
from tertulia.organization.realms.waiting import expect_owner
from tests.harness.command import tertulia
from tests.harness.server import Server
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, check_error, eventually, unique

PASSWORD = "seven copper kettles sing"
NOT_GOOD = "not good"


class Place(NamedTuple):
    """An organization that waits, somebody at its door, and the key."""

    id: int
    door: Speaker
    key: str

    def begin(self, **other: object) -> Json:
        return self.door.post("beginnings", **(self.wish() | other))

    def refused(self, key: str | None = None, /, **other: object) -> str:
        wish = self.wish() | ({} if key is None else {"key": key}) | other
        return check_error(self.door.request("POST", "beginnings", **wish))

    def wish(self) -> dict[str, object]:
        return {
            "key": self.key,
            "realm_name": "The Harbour",
            "email": "olga@example.com",
            "full_name": "Olga Owner",
            "password": PASSWORD,
            "channels": ["general", "boats"],
        }


@pytest.fixture
def waiting(stage: Stage) -> Place:
    subdomain = unique("waits").replace(" ", "-")

    async def make(tx: Transaction) -> tuple[int, str]:
        realm_id = await create_realm(tx, subdomain, "Not yet named")
        return realm_id, await expect_owner(tx, realm_id)

    realm_id, key = stage.write(make)
    return Place(realm_id, stage.nobody(host=f"{subdomain}.localhost"), key)


def test_it_begins_in_the_language_of_its_owners_browser(waiting: Place) -> None:
    waiting.door.http.headers["accept-language"] = "de-AT, en;q=0.7"
    begun = waiting.begin()
    assert waiting.door.get("server_settings")["realm_default_language"] == "de"
    waiting.door.http.headers["x-csrf-token"] = begun["csrf_token"]
    state = waiting.door.post("register", fetch_event_types=["user_settings"])
    assert state["user_settings"]["default_language"] == "de"
    assert begun["topic"] == "Willkommen"


def test_the_owner_names_it_and_is_greeted_in_the_first_channel(waiting: Place) -> None:
    assert waiting.door.post("beginnings/look", key=waiting.key)["realm_name"] == "Not yet named"
    begun = waiting.begin()
    door = waiting.door  # which has the cookie of the session now
    me = door.get("users/me")
    assert (me["email"], me["full_name"], me["is_owner"]) == ("olga@example.com", "Olga Owner", True)
    assert door.get("server_settings")["realm_name"] == "The Harbour"
    found = door.get("users/me/subscriptions")["subscriptions"]
    assert {one["name"] for one in found} == {"general", "boats"}
    [first] = [one for one in found if one["stream_id"] == begun["channel_id"]]
    assert first["name"] == "general"

    def greeted() -> bool:
        topics = door.get(f"users/me/{begun['channel_id']}/topics")["topics"]
        return [topic["name"] for topic in topics] == [begun["topic"]]

    eventually(greeted)


def test_a_link_is_good_once(waiting: Place) -> None:
    waiting.begin()
    assert NOT_GOOD in waiting.refused(email="eve@example.com")
    assert NOT_GOOD in check_error(waiting.door.request("POST", "beginnings/look", key=waiting.key))


def test_of_two_who_begin_at_once_one_is_the_owner(waiting: Place, stage: Stage) -> None:
    def ask(number: int) -> int:
        fields = waiting.wish() | {"email": f"olga{number}@example.com"}
        return waiting.door.request("POST", "beginnings", **fields).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(4))) == [200, 400, 400, 400]
    sql = "select count(*) from account where realm_id = %s and bot_type is null"
    assert stage.sql(sql, waiting.id) == [(1,)]


def test_another_key_an_old_one_and_one_of_elsewhere_are_answered_alike(waiting: Place, stage: Stage) -> None:
    said = {waiting.refused("x"), waiting.refused(waiting.key + "x")}
    replaced = stage.write(lambda tx: expect_owner(tx, waiting.id))
    said.add(waiting.refused())
    ended = "update realm set settings = settings || jsonb_build_object('_waiting', split_part(settings->>'_waiting', ' ', 1)"
    stage.sql(f"{ended} || ' {int(time.time()) - 1}') where id = %s", waiting.id)
    said.add(waiting.refused(replaced))
    said.add(check_error(stage.nobody().request("POST", "beginnings", **waiting.wish() | {"key": replaced})))
    assert len(said) == 1
    assert NOT_GOOD in said.pop()


def test_who_is_there_already_keeps_a_link_from_making_owners(waiting: Place, stage: Stage) -> None:
    stage.user(400, realm_id=waiting.id)
    assert NOT_GOOD in waiting.refused()
    with pytest.raises(Exception, match="people already"):
        stage.write(lambda tx: expect_owner(tx, waiting.id))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"realm_name": " "}, "name can't be empty"),
        ({"email": "olga"}, "valid email"),
        ({"password": "harbour1"}, "password"),
        ({"channels": []}, "channels"),
        ({"channels": ["a"] * 11}, "channels"),
    ],
)
def test_what_cannot_be_leaves_everything_as_it_was(waiting: Place, other: dict[str, object], said: str) -> None:
    assert said.lower() in waiting.refused(**other).lower()
    assert waiting.door.get("server_settings")["realm_name"] == "Not yet named"
    waiting.begin()


def test_two_channels_of_one_name_begin_nothing(waiting: Place) -> None:
    fields = waiting.wish() | {"channels": ["same", "SAME"]}
    reply = waiting.door.request("POST", "beginnings", **fields)
    check_error(reply, "CHANNEL_ALREADY_EXISTS", 409, channel_name="SAME")
    assert waiting.door.post("beginnings/look", key=waiting.key)["realm_name"] == "Not yet named"


def test_the_key_is_stored_as_a_digest_only(waiting: Place, stage: Stage) -> None:
    [(stored,)] = stage.sql("select settings::text from realm where id = %s", waiting.id)
    assert "_waiting" in stored
    assert waiting.key not in stored
    waiting.begin()
    [(stored,)] = stage.sql("select settings::text from realm where id = %s", waiting.id)
    assert "_waiting" not in stored


def test_the_operator_makes_the_link_and_another_one(server: Server, stage: Stage) -> None:
    subdomain = unique("made").replace(" ", "-")
    run = _commands(server)
    first = run("realm", "create", "Ours", "--subdomain", subdomain, "--link")
    second = run("realm", "link", "--realm", subdomain)
    door = stage.nobody(host=f"{subdomain}.localhost")
    keys = [re.fullmatch(r"https?://[^/]+/#begin/([\w-]+)\n", link) for link in (first, second)]
    old, new = (found[1] for found in keys if found is not None)
    assert NOT_GOOD in check_error(door.request("POST", "beginnings/look", key=old))
    assert door.post("beginnings/look", key=new)["realm_name"] == "Ours"


def test_a_channel_that_is_there_already_is_one_of_the_first(server: Server, stage: Stage) -> None:
    subdomain = unique("made").replace(" ", "-")
    run = _commands(server)
    realm_id = int(run("realm", "create", "Ours", "--subdomain", subdomain))
    key = run("realm", "link", "--realm", subdomain).strip().rpartition("/")[2]
    place = Place(realm_id, stage.nobody(host=f"{subdomain}.localhost"), key)
    place.door.http.headers["accept-language"] = "de"
    begun = place.begin(channels=["General", "boats"])
    assert begun["topic"] == "welcome", "where the first words are, in the language of then"
    found = place.door.get("users/me/subscriptions")["subscriptions"]
    assert {one["name"]: one["stream_id"] == begun["channel_id"] for one in found} == {"general": True, "boats": False}
    written = "select count(distinct content), count(*) from message where conversation_id = %s"
    eventually(lambda: stage.sql("select 1 from notice where realm_id = %s", realm_id) == [])
    [(different, all_of_them)] = stage.sql(written, begun["channel_id"])
    assert 0 < different == all_of_them, "the first words are said once"


def _commands(server: Server) -> Callable[..., str]:
    def run(*words: str) -> str:
        done = tertulia(*words, env={"TERTULIA_POSTGRES_URL": server.postgres_url})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
