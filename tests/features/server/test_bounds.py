"""Each bound, through HTTP: with several at once exactly as many succeed as there may be, and the others are told why."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.features.integrations.test_outgoing_webhooks import Bot
from tests.features.server.bounded_things import (
    BOUNDS,
    DRAFT,
    FITTING,
    LIMIT,
    LONG,
    OTHER_LIMITS,
    REFUSING,
    TRIED,
    TRIES,
    Place,
    channel_made,
    emoji_upload,
    group_made,
    soon,
)
from tests.harness.bot_server import OK, Answer, Posted, bot_server
from tests.harness.browser import Browser, person
from tests.harness.server import Server
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Speaker, check_error, unique


@pytest.fixture(scope="module")
def strict(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A web process with small bounds."""
    limits = dict.fromkeys(BOUNDS, LIMIT) | OTHER_LIMITS
    web = Web(server, shared_folder, bounds=", ".join(f"{name}={limit}" for name, limit in limits.items()))
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def place(stage: Stage, strict: Web) -> Place:
    return Place(stage, strict)


def test_new_channels_do_not_multiply_whom_their_settings_name(place: Place) -> None:
    people = [one.id for one in place.people()[:6]]
    settings = {"can_send_message_group": {"direct_members": people, "direct_subgroups": []}}
    wanted = [{"name": f"many {number}"} for number in range(1000)]
    for setting in ("can_create_topic", "can_move_messages_out_of_channel", "can_move_messages_within_channel",
                    "can_remove_subscribers", "can_resolve_topics", "can_subscribe", "can_add_subscribers",
                    "can_administer_channel"):  # fmt: skip
        settings[f"{setting}_group"] = settings["can_send_message_group"]
    reply = place.owner.request("POST", "users/me/subscriptions", subscriptions=wanted, **settings)
    assert check_error(reply).startswith("The settings of the new channels name too many people")


def test_each_bound_that_refuses_is_tried() -> None:
    elsewhere = {"bot_storage_characters", "owned_storage_characters", "owned_storage_keys", "events"}
    assert TRIES.keys() | elsewhere == REFUSING


@pytest.mark.parametrize("name", sorted(TRIES))
def test_several_at_once_do_not_pass_a_bound_together(place: Place, name: str) -> None:
    make = TRIES[name](place)
    limit = OTHER_LIMITS.get(name, LIMIT)
    replies = at_once([lambda number=number: make(number) for number in range(TRIED)])  # type: ignore[misc]
    refused = [reply for reply in replies if reply.status_code not in (200, 201)]
    assert len(replies) - len(refused) == FITTING.get(name, limit), [reply.text for reply in refused]
    told = BOUNDS[name].refusal.format(limit=limit)
    if name == "unfinished_uploads":
        assert all(reply.status_code == 429 and told in reply.text for reply in refused)
    else:
        assert {check_error(reply) for reply in refused} == {told}


@pytest.mark.parametrize("kind", ["drafts", "saved_snippets", "scheduled_messages"])
def test_a_text_does_not_grow_past_a_bound_by_an_edit(place: Place, kind: str) -> None:
    member, longer = place.member, "x" * 990
    if kind == "drafts":
        [number] = member.post("drafts", drafts=[DRAFT])["ids"]
        replies = [
            member.request("PATCH", f"drafts/{number}", draft=DRAFT | {"content": text}) for text in (longer * 2, LONG)
        ]
        name = "draft_bytes"
    elif kind == "saved_snippets":
        number = member.post("saved_snippets", title="title", content="short")["saved_snippet_id"]
        replies = [member.request("PATCH", f"saved_snippets/{number}", content=text) for text in (longer * 2, LONG)]
        name = "saved_snippet_bytes"
    else:
        fields = {"type": "direct", "to": [place.owner.id], "scheduled_delivery_timestamp": soon()}
        number = member.post("scheduled_messages", content="short", **fields)["scheduled_message_id"]
        replies = [member.request("PATCH", f"scheduled_messages/{number}", content=text) for text in (longer, LONG)]
        name = "scheduled_message_bytes"
    assert check_error(replies[0]) == BOUNDS[name].refusal.format(limit=1000)
    assert replies[1].status_code == 200


def test_descriptions_do_not_grow_past_a_bound_by_an_edit(place: Place) -> None:
    channel_made(place.member, "short")(0)
    channel_id = place.member.get("get_stream_id", stream="channel 0")["stream_id"]
    group_id = group_made(place.member, "short")(0).json()["group_id"]
    for path, name in ((f"streams/{channel_id}", "channel"), (f"user_groups/{group_id}", "group")):
        told = check_error(place.member.request("PATCH", path, description="x" * 1000))
        assert f"The descriptions of your {name}s are too long together" in told
        assert place.owner.request("PATCH", path, description="x" * 1000).status_code == 200


def take_channel_out(speaker: Speaker, number: int) -> httpx.Response:
    channel_id = speaker.get("get_stream_id", stream=f"channel {number}")["stream_id"]
    return speaker.request("DELETE", f"streams/{channel_id}")


def take_group_out(speaker: Speaker, number: int) -> httpx.Response:
    groups = speaker.get("user_groups")["user_groups"]
    group_id = next(group["id"] for group in groups if group["name"] == f"group {number}")
    return speaker.request("POST", f"user_groups/{group_id}/deactivate")


def take_emoji_out(speaker: Speaker, number: int) -> httpx.Response:
    return speaker.request("DELETE", f"realm/emoji/party{number}")


SHARED = {
    "channels": (channel_made, take_channel_out),
    "groups": (group_made, take_group_out),
    "custom_emoji": (emoji_upload, take_emoji_out),
}
"""What the members of an organization have together: how to make one, and how to take it out of use."""


@pytest.mark.parametrize("name", SHARED)
def test_a_member_leaves_room_for_others(place: Place, name: str) -> None:
    made_by, take_out = SHARED[name]
    for number in range(TRIED):
        made_by(place.member)(number)
    assert made_by(place.owner)(TRIED).status_code == 200
    # The organization is full; what an administrator takes out of use makes room in it, but not in the member's share.
    assert "already" in check_error(made_by(place.owner)(TRIED + 1))
    assert take_out(place.owner, 0).status_code == 200
    assert "ask an administrator" in check_error(made_by(place.member)(TRIED + 1))
    assert made_by(place.owner)(TRIED + 1).status_code == 200


@pytest.mark.parametrize("name", SHARED)
def test_making_and_taking_out_of_use_in_turns_has_an_end(place: Place, name: str) -> None:
    made_by, take_out = SHARED[name]
    for number in range(2):
        assert made_by(place.member)(number).status_code == 200
        assert take_out(place.owner, number).status_code == 200
    assert "ask an administrator" in check_error(made_by(place.member)(2))


def test_what_a_bot_made_takes_the_share_of_its_maker_for_good(place: Place) -> None:
    made = place.member.request("POST", "bots", full_name="Maker", short_name="maker").json()
    email = place.member.get(f"users/{made['user_id']}")["user"]["email"]
    bot = httpx.BasicAuth(email, made["api_key"])
    for number in range(2):
        named = {"subscriptions": json.dumps([{"name": f"channel {number}"}])}
        assert place.member.http.post("users/me/subscriptions", data=named, auth=bot).status_code == 200
    check_error(channel_made(place.member)(2))
    place.member.request("PATCH", f"bots/{made['user_id']}", bot_owner_id=place.owner.id)
    check_error(channel_made(place.member)(3))


def test_nobody_is_given_more_bots_than_they_may_have(place: Place) -> None:
    bots = [place.realm.bot(place.realm.member) for _ in range(LIMIT + 1)]
    given = [place.member.request("PATCH", f"bots/{bot.id}", bot_owner_id=place.owner.id) for bot in bots]
    assert [reply.status_code for reply in given] == [200] * LIMIT + [400]
    assert "only an administrator can give them another one" in check_error(given[-1])
    forced = place.owner.request("PATCH", f"bots/{bots[-1].id}", bot_owner_id=place.owner.id)
    assert check_error(forced) == "Failed to change owner, they have as many bots as one person may have"


@pytest.mark.parametrize("name", ["channels", "groups"])
def test_nothing_comes_back_into_use_where_there_is_no_room(place: Place, name: str) -> None:
    made_by, take_out = SHARED[name]
    make = made_by(place.owner)
    make(0)
    found = place.owner.get("user_groups")["user_groups"]
    group_ids = [group["id"] for group in found if group["name"] == "group 0"]
    channel_id = place.owner.request("GET", "get_stream_id", stream="channel 0").json().get("stream_id")
    take_out(place.owner, 0)
    for number in range(1, LIMIT + 1):
        assert make(number).status_code == 200
    path, field = (
        (f"streams/{channel_id}", "is_archived") if channel_id else (f"user_groups/{group_ids[0]}", "deactivated")
    )
    assert "already" in check_error(place.owner.request("PATCH", path, **{field: False}))
    assert take_out(place.owner, 1).status_code == 200
    assert place.owner.request("PATCH", path, **{field: False}).status_code == 200


def test_the_storage_of_a_bot_is_bounded_in_characters(place: Place) -> None:
    place.member.request("PUT", "bot_storage", storage={"key": "x" * 20})
    told = check_error(place.member.request("PUT", "bot_storage", storage={"other": "x" * 20}))
    assert "limit: 30 in all" in told


@contextmanager
def slow_bot_server() -> Iterator[str]:
    """The address of one that answers nothing before the end."""
    over = threading.Event()

    def answer_later(_: Posted) -> Answer:
        over.wait(60)
        return OK

    with bot_server() as theirs:
        theirs.answer = answer_later
        try:
            yield theirs.url
        finally:
            over.set()


def test_a_bot_whose_calls_wait_is_not_called_more_often(place: Place, stage: Stage) -> None:
    with slow_bot_server() as url:
        bot = Bot(place.realm, url)
        at_once([partial(place.member.send, [bot.id], content="tea")] * TRIED)
        [(waiting,)] = stage.sql("select count(*) from hook_call where bot_id = %s", bot.id)
    assert waiting == LIMIT


def test_calls_of_all_bots_of_somebody_that_wait_have_a_bound_together(place: Place, stage: Stage) -> None:
    with slow_bot_server() as url:
        bots = [Bot(place.realm, url).id for _ in range(LIMIT)]
        for number in range(LIMIT):
            place.member.send(bots, content=f"tea {number}")
        [(waiting,)] = stage.sql("select count(*) from hook_call where bot_id = any(%s)", bots)
    assert waiting == OTHER_LIMITS["owned_bot_calls"]


def test_one_message_calls_only_so_many_bots(place: Place, stage: Stage) -> None:
    with slow_bot_server() as url:
        bots = sorted(Bot(place.realm, url).id for _ in range(TRIED))
        sent = place.member.send(bots, content="tea")
        called = stage.sql("select bot_id from hook_call where message_id = %s order by bot_id", sent)
    assert [bot_id for (bot_id,) in called] == bots[:LIMIT]


def test_alert_words_of_somebodys_bots_count_as_theirs(place: Place) -> None:
    bots = [place.at(place.realm.bot(place.realm.member)) for _ in range(TRIED)]
    words = "users/me/alert_words"
    added = at_once([partial(bot.request, "POST", words, alert_words=["tea"]) for bot in bots])
    assert [reply.status_code for reply in added].count(200) == LIMIT
    check_error(place.member.request("POST", words, alert_words=["tea"]))
    place.owner.post(words, alert_words=["tea"])
    [(had, *_), (other, *_)] = [
        [bot for bot in bots if bot.get(words)["alert_words"] == all_] for all_ in (["tea"], [])
    ]
    assert had.request("DELETE", words, alert_words=["tea"]).status_code == 200
    other.post(words, alert_words=["tea"])


def test_scheduled_messages_of_somebodys_bots_count_as_theirs(place: Place) -> None:
    bots = [place.at(place.realm.bot(place.realm.member)) for _ in range(TRIED)]
    fields = {"type": "direct", "to": [place.member.id], "content": "tea", "scheduled_delivery_timestamp": soon()}
    kept = at_once([partial(bot.request, "POST", "scheduled_messages", **fields) for bot in bots])
    assert [reply.status_code for reply in kept].count(200) == LIMIT
    told = check_error(place.member.request("POST", "scheduled_messages", **fields))
    assert told == BOUNDS["scheduled_messages"].refusal.format(limit=LIMIT)
    place.owner.post("scheduled_messages", **fields)


@pytest.mark.parametrize(("text", "most", "name"), [("", LIMIT, "keys"), ("x" * 20, 2, "characters")])
def test_the_storage_of_somebodys_bots_counts_as_theirs(place: Place, text: str, most: int, name: str) -> None:
    bots = [place.at(place.realm.bot(place.realm.member)) for _ in range(TRIED)]
    stored = at_once([partial(bot.request, "PUT", "bot_storage", storage={"key": text}) for bot in bots])
    assert [reply.status_code for reply in stored].count(200) == most
    told = check_error(place.member.request("PUT", "bot_storage", storage={"key": text}))
    bound = BOUNDS[f"owned_storage_{name}"]
    assert told == bound.refusal.format(limit=OTHER_LIMITS.get(bound.name, LIMIT))
    assert place.owner.request("PUT", "bot_storage", storage={"key": text}).status_code == 200
    [had, *_] = [bot for bot in bots if bot.get("bot_storage")["storage"]]
    had.delete("bot_storage")
    assert place.member.request("PUT", "bot_storage", storage={"key": text}).status_code == 200


def test_muted_topics_of_somebodys_bots_count_as_theirs(place: Place) -> None:
    channel = place.channel()
    bots = [place.at(place.realm.bot(place.realm.member)) for _ in range(TRIED)]
    muting = {"stream_id": channel.stream_id, "topic": "tea", "visibility_policy": 1}
    muted = at_once([partial(bot.request, "POST", "user_topics", **muting) for bot in bots])
    assert [reply.status_code for reply in muted].count(200) == LIMIT
    check_error(place.member.request("POST", "user_topics", **muting))
    place.member.post("user_topics", **muting | {"visibility_policy": 3})
    place.owner.post("user_topics", **muting)


def test_whoever_has_more_alert_words_than_they_may_can_remove_some(place: Place, stage: Stage) -> None:
    more = "insert into alert_word (realm_id, user_id, word_key, word, first_word) values (%s, %s, %s, %s, %s)"
    for word in "abcdefg":
        stage.sql(more, place.realm.id, place.member.id, *[word] * 3)
    assert place.member.request("DELETE", "users/me/alert_words", alert_words=["a"]).status_code == 200


def test_who_has_too_many_queues_loses_the_one_not_polled_for_the_longest_time(place: Place) -> None:
    queues = [place.member.register() for _ in range(LIMIT)]
    queues[0].so_far()
    newest = place.member.register()
    check_error(queues[1].request(dont_block=True), "BAD_EVENT_QUEUE_ID", queue_id=queues[1].id)
    for queue in (queues[0], queues[2], newest):
        queue.so_far()
    # Somebody else's queues are not counted.
    place.owner.register().so_far()
    queues[0].so_far()


def test_the_queues_of_somebodys_bots_count_as_theirs(place: Place) -> None:
    own = [place.member.register() for _ in range(2)]
    own[0].so_far()
    theirs = place.owner.register()
    of_bots = [place.at(place.realm.bot(place.realm.member)).register() for _ in range(3)]
    check_error(own[1].request(dont_block=True), "BAD_EVENT_QUEUE_ID", queue_id=own[1].id)
    for queue in (own[0], theirs, *of_bots):
        queue.so_far()


def test_a_waiting_request_keeps_its_queue(place: Place) -> None:
    waiting = place.member.register()
    poll = waiting.later()
    for _ in range(LIMIT + 2):
        place.member.register()
    sent = place.member.send([place.member.id], content="still there")
    assert sent in [event["message"]["id"] for event in poll.result(60).json()["events"] if event["type"] == "message"]


def test_who_logs_in_at_too_many_browsers_is_logged_out_at_the_oldest(stage: Stage, strict: Web) -> None:
    user = person(stage)
    browsers = [Browser(strict.url) for _ in range(LIMIT + 1)]
    try:
        for browser in browsers:
            browser.log_in(user)
        check_error(browsers[0].request("GET", "sessions/current"), "UNAUTHORIZED", 401)
        assert all(browser.request("GET", "sessions/current").status_code == 200 for browser in browsers[1:])
    finally:
        for browser in browsers:
            browser.http.close()


def test_a_setting_that_names_no_bound_stops_the_server(server: Server, folder: Path) -> None:
    web = Web(server, folder, bounds=f"{unique('none')}=3")
    with pytest.raises(AssertionError, match="ended"):
        web.wait()
