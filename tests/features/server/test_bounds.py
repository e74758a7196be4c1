"""Each bound, through HTTP: with several at once exactly as many succeed as there may be, and the others are told why."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from tertulia.kernel.bounds import Bound
from tertulia.kernel.ids import digest_of_key
from tertulia.server.features import FEATURES
from tests.features.integrations.test_outgoing_webhooks import Bot
from tests.harness.authenticator import give_factor
from tests.harness.bot_server import OK, Answer, Posted, bot_server
from tests.harness.browser import PASSWORD, Browser, person
from tests.harness.passkeys import PasskeyDevice
from tests.harness.passwords import give_password
from tests.harness.realm import Realm
from tests.harness.server import MEMBER, Channel, Server
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Speaker, check_error, unique

BOUNDS = {one.name: one for feature in FEATURES for one in feature.bounds if isinstance(one, Bound)}
REFUSING = {name for name, bound in BOUNDS.items() if bound.refusal}
LIMIT = 3
TRIED = 7
OTHER_LIMITS = {
    "submessages": 5,
    "submessage_bytes": 2000,
    "own_submessage_bytes": 1000,
    "draft_bytes": 1000,
    "saved_snippet_bytes": 1000,
    "scheduled_message_bytes": 1000,
    "reminder_bytes": 1000,
    "reactions": 5,
    "reaction_emoji": 4,
    "bot_storage_characters": 30,
    "own_channels": 2,
    "own_groups": 2,
    "own_channel_bytes": 1000,
    "own_group_bytes": 600,
    "own_channel_holders": 10,
    "own_group_holders": 10,
    "own_custom_emoji": 2,
    "event_queues_with_owned": 4,
    "events": 1000,
}
EMOJI = ["smile", "tada", "+1", "heart", "tea", "coffee", "dog"]
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def strict(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A web process with small bounds."""
    limits = dict.fromkeys(BOUNDS, LIMIT) | OTHER_LIMITS
    web = Web(server, shared_folder, bounds=", ".join(f"{name}={limit}" for name, limit in limits.items()))
    try:
        yield web.wait()
    finally:
        web.stop()


class Place:
    """An organization at the strict web process."""

    def __init__(self, stage: Stage, web: Web) -> None:
        self.realm = Realm(stage)
        self._web = web
        self.owner, self.member = self.at(self.realm.owner), self.at(self.realm.member)

    def at(self, speaker: Speaker) -> Speaker:
        return self.realm.as_user(speaker.user, url=self._web.url)

    def people(self) -> list[Speaker]:
        return [self.at(self.realm.speaker(MEMBER)) for _ in range(TRIED)]

    def channel(self, *people: Speaker) -> Channel:
        return self.realm.stage.channel(*(people or (self.realm.member,)), realm_id=self.realm.id)

    def poll(self) -> int:
        return self.realm.member.send(self.channel().stream_id, "topic", "/poll Tea?\nyes\nno")

    def message(self) -> int:
        return self.realm.member.send(self.channel().stream_id, "topic", "hello")


@pytest.fixture
def place(stage: Stage, strict: Web) -> Place:
    return Place(stage, strict)


Try = Callable[[int], httpx.Response]
"""Makes one of what is bounded; the number tells them apart."""


def posting(speaker: Speaker, path: str, method: str = "POST", **fields: object) -> Try:
    """In texts `#` stands for the number."""

    def numbered(value: object, number: int) -> object:
        return json.loads(json.dumps(value).replace("#", str(number)))

    return lambda number: speaker.request(
        method, path.replace("#", str(number)), **{name: numbered(value, number) for name, value in fields.items()}
    )


def vote(number: int) -> str:
    return json.dumps({"type": "vote", "key": f"canned,{number % 2}", "vote": 1})


OPTION = json.dumps({"type": "new_option", "idx": 1, "option": "x" * 430})


def telling(people: list[Speaker], poll: int, content: str) -> Try:
    said = {"message_id": poll, "msg_type": "widget", "content": content}
    return lambda number: people[number].request("POST", "submessage", **said)


def emoji_upload(speaker: Speaker) -> Try:
    def make(number: int) -> httpx.Response:
        return speaker.http.post(f"realm/emoji/party{number}", files={"file": ("party.png", PICTURE)})

    return make


def channel_made(speaker: Speaker, description: str = "") -> Try:
    wanted = {"name": "channel #", "description": description}
    return posting(speaker, "users/me/subscriptions", subscriptions=[wanted])


def group_made(speaker: Speaker, description: str = "") -> Try:
    return posting(speaker, "user_groups/create", name="group #", description=description, members=[speaker.id])


def group_filled(place: Place) -> Try:
    made = group_made(place.member)(0).json()["group_id"]
    people = place.people()
    return lambda number: place.member.request("POST", f"user_groups/{made}/members", add=[people[number].id])


def channel_ruled(place: Place) -> Try:
    """Each time another setting of a channel names four people."""
    made = place.member.post("channels/create", name="ruled", subscribers=[place.member.id])["id"]
    people = [one.id for one in place.people()[:4]]
    settings = ["can_create_topic", "can_move_messages_out_of_channel", "can_move_messages_within_channel",
                "can_remove_subscribers", "can_resolve_topics", "can_send_message", "can_subscribe"]  # fmt: skip
    return lambda number: place.member.request(
        "PATCH", f"streams/{made}", **{f"{settings[number]}_group": naming(people)}
    )


def group_ruled(place: Place) -> Try:
    """Each time another setting of two groups names three people."""
    made = [group_made(place.member)(number).json()["group_id"] for number in range(2)]
    people = [one.id for one in place.people()[:3]]
    settings = ["can_join", "can_leave", "can_mention", "can_remove_members"]
    return lambda number: place.member.request(
        "PATCH", f"user_groups/{made[number % 2]}", **{f"{settings[number // 2]}_group": naming(people)}
    )


def naming(people: list[int]) -> dict[str, dict[str, list[int]]]:
    return {"new": {"direct_members": people, "direct_subgroups": []}}


def token_made(place: Place) -> Try:
    give_password(place.realm.stage, place.owner)
    return posting(place.owner, "scim/tokens", label="token #", password=PASSWORD)


def upload_begun(place: Place) -> Try:
    def make(number: int) -> httpx.Response:
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "5", "Upload-Metadata": "filename eA=="}
        return place.member.http.post(httpx.URL(place.member.http.base_url).join("/api/v1/tus/"), headers=headers)

    return make


def muting(place: Place) -> Try:
    people = place.people()
    return lambda number: place.member.request("POST", f"users/me/muted_users/{people[number].id}")


def passkey_made(place: Place) -> Try:
    """By somebody who has a factor, so that each is begun by a recovery code and none ends what another has begun."""
    member, device = place.member, PasskeyDevice(str(httpx.URL(place.member.http.base_url).join("/")).rstrip("/"))
    stage = place.realm.stage
    give_factor(stage, member.id)
    host = member.http.headers.get("host")
    device.origin = f"http://{host}" if host else device.origin
    made = []
    for number in range(TRIED):
        stage.sql("insert into recovery_code values (%s, %s)", member.id, digest_of_key(f"CODE{number}"))
        options = member.post("users/me/passkeys/options", code=f"CODE{number}")["public_key"]
        made.append(device.make(options))
    return lambda number: member.request("POST", "users/me/passkeys", label="key", credential=made[number])


def soon() -> int:
    return int(time.time()) + 86400


DRAFT = {"type": "private", "to": [], "topic": "", "content": "draft #", "timestamp": 1}
LONG = "x" * 430

TRIES: dict[str, Callable[[Place], Try]] = {
    "drafts": lambda place: posting(place.member, "drafts", drafts=[DRAFT]),
    "saved_snippets": lambda place: posting(place.member, "saved_snippets", title="#", content="#"),
    "scheduled_messages": lambda place: posting(
        place.member,
        "scheduled_messages",
        type="direct",
        to=[place.owner.id],
        content="#",
        scheduled_delivery_timestamp=soon(),
    ),
    "reminders": lambda place: posting(
        place.member, "reminders", message_id=place.message(), scheduled_delivery_timestamp=soon()
    ),
    "draft_bytes": lambda place: posting(place.member, "drafts", drafts=[DRAFT | {"content": LONG}]),
    "saved_snippet_bytes": lambda place: posting(place.member, "saved_snippets", title="#", content=LONG),
    "scheduled_message_bytes": lambda place: posting(
        place.member,
        "scheduled_messages",
        type="direct",
        to=[place.owner.id],
        content=LONG,
        scheduled_delivery_timestamp=soon(),
    ),
    "reminder_bytes": lambda place: posting(
        place.member, "reminders", message_id=place.message(), scheduled_delivery_timestamp=soon(), note=LONG
    ),
    "alert_words": lambda place: posting(place.member, "users/me/alert_words", alert_words=["word#"]),
    "muted_users": muting,
    "topic_policies": lambda place: posting(
        place.member, "user_topics", stream_id=place.channel().stream_id, topic="#", visibility_policy=1
    ),
    "channel_folders": lambda place: posting(place.owner, "channel_folders/create", name="folder #", description=""),
    "channels": lambda place: channel_made(place.owner),
    "own_channels": lambda place: channel_made(place.member),
    "invitations": lambda place: posting(place.owner, "invites/multiuse", stream_ids=[]),
    "linkifiers": lambda place: posting(
        place.owner, "realm/filters", pattern="T#-(?P<id>[0-9]+)", url_template="https://example.com/{id}"
    ),
    "playgrounds": lambda place: posting(
        place.owner,
        "realm/playgrounds",
        name="play #",
        pygments_language="Python",
        url_template="https://example.com/{code}",
    ),
    "custom_emoji": lambda place: emoji_upload(place.owner),
    "own_custom_emoji": lambda place: emoji_upload(place.member),
    "groups": lambda place: group_made(place.owner),
    "own_channel_bytes": lambda place: channel_made(place.member, LONG),
    "own_group_bytes": lambda place: group_made(place.member, LONG),
    "own_group_members": group_filled,
    "own_channel_holders": channel_ruled,
    "own_group_holders": group_ruled,
    "scim_tokens": token_made,
    "own_groups": lambda place: group_made(place.member),
    "realm_domains": lambda place: posting(
        place.owner, "realm/domains", domain="d#.example.com", allow_subdomains=False
    ),
    "profile_fields": lambda place: posting(place.owner, "realm/profile_fields", field_type=1, name="field #"),
    "passkeys": passkey_made,
    "bots": lambda place: posting(place.member, "bots", full_name="Bot #", short_name="bot#"),
    "bot_storage_keys": lambda place: posting(place.member, "bot_storage", "PUT", storage={"#": ""}),
    "unfinished_uploads": upload_begun,
    "edits": lambda place: posting(place.member, f"messages/{place.message()}", "PATCH", content="text #"),
    "own_submessages": lambda place: telling([place.owner] * TRIED, place.poll(), vote(0)),
    "submessages": lambda place: telling(place.people(), place.poll(), vote(0)),
    "own_submessage_bytes": lambda place: telling([place.owner] * TRIED, place.poll(), OPTION),
    "submessage_bytes": lambda place: telling(place.people(), place.poll(), OPTION),
    "own_reactions": lambda place: _reacting([place.owner] * TRIED, place.message(), EMOJI),
    "reaction_emoji": lambda place: _reacting(place.people(), place.message(), EMOJI),
    "reactions": lambda place: _reacting(place.people(), place.message(), EMOJI[:1] * TRIED),
}
FITTING = {"own_submessage_bytes": 1000 // len(OPTION), "submessage_bytes": 2000 // len(OPTION)} | {
    "draft_bytes": 2,
    "saved_snippet_bytes": 2,
    "scheduled_message_bytes": 1,  # the text and its HTML
    "reminder_bytes": 1,
    "own_channel_bytes": 1,
    "own_group_bytes": 1,
    "own_channel_holders": 2,  # of four, beside who made it
    "own_group_holders": 2,  # of three, beside who made both, twice
    "own_group_members": LIMIT - 1,  # beside who made it
}
"""Where it is not as many as the bound says."""


def _reacting(people: list[Speaker], message_id: int, names: list[str]) -> Try:
    at = f"messages/{message_id}/reactions"
    return lambda number: people[number].request("POST", at, emoji_name=names[number])


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
    elsewhere = {"bot_storage_characters", "events"}
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
    assert check_error(given[-1]) == "Failed to change owner, they have as many bots as one person may have"


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


def test_a_bot_whose_calls_wait_is_not_called_more_often(place: Place, stage: Stage) -> None:
    over = threading.Event()

    def answer_later(_: Posted) -> Answer:
        over.wait(60)
        return OK

    with bot_server() as theirs:
        theirs.answer = answer_later
        bot = Bot(place.realm, theirs.url)
        at_once([partial(place.member.send, [bot.id], content="tea")] * TRIED)
        [(waiting,)] = stage.sql("select count(*) from hook_call where bot_id = %s", bot.id)
        over.set()
    assert waiting == LIMIT


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
