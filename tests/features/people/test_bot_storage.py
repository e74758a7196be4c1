"""What bots remember."""

import random

from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_error, check_success


def put(speaker: Speaker, values: dict[str, str]) -> None:
    check_success(speaker.request("PUT", "bot_storage", storage=values))


def test_a_bot_finds_again_what_it_stored_and_nobody_elses(realm: Realm) -> None:
    bot, other = realm.bot(realm.member), realm.bot(realm.member)
    assert bot.get("bot_storage")["storage"] == {}
    put(bot, {"count": "1", "": "empty key", "ñ": "…"})
    put(bot, {"count": "2"})
    put(other, {"count": "other"})
    assert bot.get("bot_storage")["storage"] == {"count": "2", "": "empty key", "ñ": "…"}
    assert bot.get("bot_storage", keys=["count"])["storage"] == {"count": "2"}
    check_error(bot.request("GET", "bot_storage", keys=["count", "none"]))
    check_error(bot.request("DELETE", "bot_storage", keys=["count", "none"]))
    bot.delete("bot_storage", keys=["count"])
    assert set(bot.get("bot_storage")["storage"]) == {"", "ñ"}
    bot.delete("bot_storage")
    assert bot.get("bot_storage")["storage"] == {}
    assert other.get("bot_storage")["storage"] == {"count": "other"}
    for wrong in ({"count": 1}, ["count"], "x"):
        check_error(bot.request("PUT", "bot_storage", storage=wrong))


def test_a_bot_stores_no_more_than_the_limit(stage: Stage) -> None:
    bot = stage.speaker(stage.user(bot_type=1))
    tenth = "x" * 999_999
    for key in "abcdefghij":
        put(bot, {key: tenth})
    assert "1 characters" in check_error(bot.request("PUT", "bot_storage", storage={"k": ""}))
    put(bot, {"a": ""})
    put(bot, {"k": "y"})
    bot.delete("bot_storage")


def test_a_key_is_no_longer_than_the_index_can_hold(realm: Realm) -> None:
    bot = realm.bot(realm.member)
    letters = [chr(code) for code in range(0x10000, 0x1F000)]  # four bytes each, and nothing to compress
    longest = "".join(random.Random(1).choices(letters, k=500))
    put(bot, {longest: "x"})
    assert bot.get("bot_storage", keys=[longest])["storage"] == {longest: "x"}
    check_error(bot.request("PUT", "bot_storage", storage={"fine": "x", longest + "y": "x"}))
    assert set(bot.get("bot_storage")["storage"]) == {longest}


def test_too_many_keys_are_refused_before_any_of_them_is_written(stage: Stage) -> None:
    bot = stage.speaker(stage.user(bot_type=1))
    put(bot, {"first": "x"})
    size = "select pg_relation_size('bot_storage')"  # rows that were written and taken back leave their room behind
    [(before,)] = stage.sql(size)
    refused = bot.request("PUT", "bot_storage", storage={f"key {number}": "x" * 100 for number in range(10_000)})
    assert "10000 keys" in check_error(refused)
    check_error(bot.request("PUT", "bot_storage", storage=dict.fromkeys(map(str, range(10_001)), "")))
    [(after,)] = stage.sql(size)
    assert after - before < 200_000
    put(bot, {"first": "y", **{str(number): "" for number in range(9_999)}})  # one that is there is no more
    assert len(bot.get("bot_storage")["storage"]) == 10_000
    bot.delete("bot_storage")
