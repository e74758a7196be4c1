"""One of each thing that has a bound, made again and again: what test_bounds.py tries."""

import base64
import json
import time
from collections.abc import Callable

import httpx

from tertulia.kernel.bounds import Bound
from tertulia.kernel.ids import digest_of_key
from tertulia.server.features import FEATURES
from tests.harness.authenticator import give_factor
from tests.harness.passkeys import PasskeyDevice
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import MEMBER, Channel
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker

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
    "exports": 1,
    "own_exports": 1,
    "reactions": 5,
    "reaction_emoji": 4,
    "bot_storage_characters": 30,
    "owned_storage_characters": 50,
    "owned_bot_calls": 5,
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


def mail_address_made(place: Place) -> Try:
    channels = [place.channel() for _ in range(TRIED)]
    return lambda number: place.member.request("POST", f"streams/{channels[number].stream_id}/email_address")


def bot_given(place: Place) -> Try:
    bots = [place.realm.bot(place.realm.member) for _ in range(TRIED)]
    other = place.realm.moderator.id
    return lambda number: place.member.request("PATCH", f"bots/{bots[number].id}", bot_owner_id=other)


def group_made(speaker: Speaker, description: str = "") -> Try:
    return posting(speaker, "user_groups/create", name="group #", description=description, members=[speaker.id])


def group_filled(place: Place) -> Try:
    made = group_made(place.member)(0).json()["group_id"]
    people = place.people()
    return lambda number: place.member.request("POST", f"user_groups/{made}/members", add=[people[number].id])


def group_nested(place: Place) -> Try:
    made = group_made(place.owner)(0).json()["group_id"]
    groups = place.owner.get("user_groups")["user_groups"]
    roles = [one["id"] for one in groups if one["is_system_group"] and one["name"] != "role:nobody"]
    return lambda number: place.owner.request("POST", f"user_groups/{made}/subgroups", add=[roles[number]])


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


def export_asked(speaker: Speaker, place: Place, path: str) -> Try:
    give_password(place.realm.stage, speaker)
    return posting(speaker, path, password=PASSWORD)


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


def pinning(place: Place, to: object, topic: str | None = None) -> Try:
    """Each time another message of one conversation."""
    messages = [place.owner.send(to, topic, str(number)) for number in range(TRIED)]
    return lambda number: place.owner.request("POST", f"messages/{messages[number]}/pin")


TRIES: dict[str, Callable[[Place], Try]] = {
    "pins_of_topic": lambda place: pinning(place, place.channel().stream_id, "tea"),
    "pins_of_direct": lambda place: pinning(place, [place.member.id]),
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
    "channel_addresses": mail_address_made,
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
    "given_bots": bot_given,
    "topic_policies": lambda place: posting(
        place.member, "user_topics", stream_id=place.channel().stream_id, topic="#", visibility_policy=3
    ),
    "muted_topics": lambda place: posting(
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
    "subgroups": group_nested,
    "own_channel_holders": channel_ruled,
    "own_group_holders": group_ruled,
    "scim_tokens": token_made,
    "exports": lambda place: export_asked(place.owner, place, "export/realm"),
    "own_exports": lambda place: export_asked(place.member, place, "export/own"),
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
