"""What the notification bot says of people's names and texts: names are letters, and nobody learns of whom they do not see."""

import time
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.contract.subscribing import ask
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_success, unique

HOSTILE = [
    "@**all**",
    "[x](https://evil.example)",
    "a `code` | b",
    "https://evil.example/a.png",
    "www.evil.com me@evil.com",
    "**bold** ~~gone~~ :smile: $$x$$",
    "<time:2020-01-01T00:00:00Z> & &lt;",
]
MENTIONS = {"mentioned", "wildcard_mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned"}


class Page(HTMLParser):
    """What a reader sees of a message, and what else is in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.tags, self.links, self.mentions = "", set[str](), list[str](), list[str]()
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        if "href" in values:
            self.links.append(values["href"] or "")
        if "mention" in (values.get("class") or ""):
            self.mentions.append(values["class"] or "")


def said_to(reader: Speaker, **where: Any) -> list[Json]:
    """What the bot said that somebody reads, oldest first."""
    found = reader.window(before=100, **where)["messages"]
    return [one for one in found if one["sender_full_name"] == "Notification Bot"]


def next_of_bot(queue: Queue) -> Json:
    """What the bot says next. Who has just done what it tells of has no promise that it has said so yet."""
    event = queue.until(lambda one: one["message"]["sender_full_name"] == "Notification Bot")[-1]
    return {**event["message"], "flags": event["flags"]}


def in_channel(channel: int) -> Json:
    return {"narrow": [{"operator": "channel", "operand": channel}]}


def check_letters(message: Json, *names: str) -> None:
    """The names are in it letter by letter, and are nothing else."""
    page = Page(message["content"])
    for name in names:
        assert name in page.text, message["content"]
    assert all(link.startswith("/#narrow/") for link in page.links), message["content"]
    assert all("silent" in kind for kind in page.mentions), message["content"]
    assert page.tags <= {"p", "span", "strong", "a", "ul", "li", "blockquote", "br"}, message["content"]
    assert not MENTIONS & set(message["flags"])


def switch(realm: Realm, **settings: object) -> None:
    check_success(realm.owner.request("PATCH", "realm", **settings))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_topic_is_only_letters_in_what_is_said_of_a_move(realm: Realm, name: str) -> None:
    channel, other = (realm.stage.channel(realm.member, realm.guest, realm_id=realm.id) for _ in range(2))
    told = {"send_notification_to_old_thread": True, "send_notification_to_new_thread": True}
    first = realm.member.send(channel.stream_id, "tea")
    check_success(realm.member.request("PATCH", f"messages/{first}", topic=name, propagate_mode="change_all", **told))
    check_success(
        realm.owner.request("PATCH", f"messages/{first}", stream_id=other.stream_id, topic="x " + name, **told)
    )
    said = [
        *said_to(realm.guest, **in_channel(channel.stream_id)),
        *said_to(realm.guest, **in_channel(other.stream_id)),
    ]
    assert len(said) >= 4
    for message in said:
        check_letters(message)
    assert sum(name in Page(message["content"]).text for message in said) >= 3


@pytest.mark.parametrize("name", HOSTILE)
def test_a_channel_is_only_letters_in_what_is_said_of_it(realm: Realm, name: str) -> None:
    news = realm.stage.channel(realm.guest, realm_id=realm.id)
    switch(realm, new_stream_announcements_stream_id=news.stream_id, send_channel_events_messages=True)
    first, second = name + unique(" a"), name + unique(" b")
    fence = "text\n````\n@**all** outside\n~~~~\n@**everyone** [x](/ok)\n```quote"
    check_success(
        realm.member.request(
            "POST", "users/me/subscriptions", announce=True, principals=[realm.member.id, realm.guest.id],
            subscriptions=[{"name": first, "description": "d"}, {"name": second, "description": ""}],
        )
    )  # fmt: skip
    number = realm.member.get("get_stream_id", stream=first)["stream_id"]
    renamed = name + unique(" c")
    check_success(realm.owner.request("PATCH", f"streams/{number}", new_name=renamed))
    check_success(realm.owner.request("PATCH", f"streams/{number}", description=fence))
    [announced] = said_to(realm.guest, **in_channel(news.stream_id))
    check_letters(announced, first, second)
    made, moved, described = said_to(realm.guest, **in_channel(number))
    check_letters(made)
    check_letters(moved, first, renamed)
    page = Page(described["content"])
    assert all("silent" in kind for kind in page.mentions)
    assert not MENTIONS & set(described["flags"])
    existing = realm.stage.channel(realm.owner, realm_id=realm.id)
    check_success(realm.owner.request("PATCH", f"streams/{existing.stream_id}", new_name=name + unique(" d")))
    name_now = realm.owner.get(f"streams/{existing.stream_id}")["stream"]["name"]
    check_success(ask(realm.owner, name_now, principals=[realm.guest.id]))
    check_letters(said_to(realm.guest, narrow=[{"operator": "is", "operand": "dm"}])[-1], name_now)


@pytest.mark.parametrize("name", ["[x](https://evil.com)", "$$x$$ ~~a~~ <b> :smile:", "www.evil.com"])
def test_people_and_groups_are_only_letters(realm: Realm, name: str) -> None:
    news = realm.stage.channel(realm.guest, realm_id=realm.id)
    switch(realm, signup_announcements_stream_id=news.stream_id)
    person, group = name.replace(">", "") + unique(" p"), name + unique(" *g* @**all**")
    password = "a long and quite good password 77"
    address = f"{unique('u').replace(' ', '')}@example.com"
    with realm.guest.register(apply_markdown=True) as queue:
        realm.owner.post("users", email=address, password=password, full_name=person)
        check_letters(next_of_bot(queue), person)
        realm.owner.post("user_groups/create", name=group, description="", members=[realm.owner.id])
        groups = {one["name"]: one["id"] for one in realm.owner.get("user_groups")["user_groups"]}
        realm.owner.post(f"user_groups/{groups[group]}/members", add=[realm.guest.id])
        check_letters(next_of_bot(queue), group)


def test_the_reason_why_a_scheduled_message_failed_is_only_letters(realm: Realm) -> None:
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    name = f"[x](https://evil.com) {unique('n')} @**all**"
    check_success(realm.owner.request("PATCH", f"streams/{channel.stream_id}", new_name=name))
    with realm.member.register() as queue:
        realm.member.post(
            "scheduled_messages", type="channel", to=channel.stream_id, topic="tea", content="x",
            scheduled_delivery_timestamp=int(time.time()) + 60,
        )  # fmt: skip
        check_success(realm.owner.request("DELETE", f"streams/{channel.stream_id}"))
        realm.stage.sql("update scheduled_message set due = now() where user_id = %s", realm.member.id)
        said = next_of_bot(queue)
        while said["subject"]:
            said = next_of_bot(queue)
    check_letters(said)


# Whom a guest does not see


@pytest.fixture
def closed(realm: Realm) -> Realm:
    """Guests see only whom they share something with."""
    sql = """
    insert into realm_permission (realm_id, setting, group_id)
    select %s, 'can_access_all_users_group', id from user_group where realm_id = %s and name = 'role:members'
    """
    realm.stage.sql(sql, realm.id, realm.id)
    for one in realm.all:
        check_success(realm.owner.request("PATCH", f"users/{one.id}", full_name=unique("Name of")))
    return realm


def name_of(realm: Realm, person: Speaker) -> str:
    return str(realm.owner.get(f"users/{person.id}")["user"]["full_name"])


def test_a_reminder_shows_a_guest_nobody_they_do_not_see(closed: Realm) -> None:
    guest, people = closed.guest, [closed.owner, closed.administrator, closed.moderator, closed.member]
    text = " ".join(f"@**|{one.id}** @_**{name_of(closed, one)}**" for one in people)
    message, note = guest.send([guest.id], content=text), " ".join(f"@**|{one.id}**" for one in people)
    with guest.register(apply_markdown=True) as queue:
        remind(guest, message, note)
        [listed] = guest.get("reminders")["reminders"]
        said = reminded(closed.stage, queue)
    for html in (said, listed["rendered_content"]):
        assert "user-mention" not in html
        assert "data-user-id" not in html
        assert f"|{closed.owner.id}" in html


def test_a_guest_is_not_told_the_name_of_somebody_they_do_not_see(closed: Realm) -> None:
    channel = closed.stage.channel(closed.guest, realm_id=closed.id)
    other = closed.stage.channel(closed.owner, realm_id=closed.id)
    check_success(ask(closed.moderator, other.name, principals=[closed.guest.id]))
    closed.owner.delete("users/me/subscriptions", subscriptions=[other.name], principals=[closed.guest.id])
    del channel
    said = said_to(closed.guest, narrow=[{"operator": "is", "operand": "dm"}])
    assert len(said) == 1
    assert name_of(closed, closed.moderator) not in said[0]["content"]
    assert "Unknown user" in said[0]["content"]
    raw = closed.guest.message(said[0]["id"], apply_markdown=False)["content"]
    assert str(closed.moderator.id) not in raw.replace(str(other.stream_id), "")


# What a reminder keeps


def remind(speaker: Speaker, message: int, note: str = "my note") -> None:
    fields = {"message_id": message, "scheduled_delivery_timestamp": int(time.time()) + 60, "note": note}
    speaker.post("reminders", **fields)


def reminded(stage: Stage, queue: Queue) -> str:
    """What a reminder says that is due now."""
    stage.sql("update reminder set due = now() where user_id = %s", queue.speaker.id)
    [event] = queue.poll()
    assert event["message"]["sender_full_name"] == "Notification Bot"
    return str(event["message"]["content"])


def waiting(speaker: Speaker) -> str:
    """All that is kept of the reminders that are still to come."""
    state = speaker.post("register", event_types=[], fetch_event_types=["reminders"])
    found = speaker.get("reminders")["reminders"]
    assert state["reminders"] == found
    return str(found)


@pytest.mark.holds("reminders.refers")
def test_a_reminder_shows_the_text_as_it_is_by_then(realm: Realm) -> None:
    channel = realm.stage.channel(realm.member, realm.guest, realm_id=realm.id)
    message = realm.member.send(channel.stream_id, "tea", "first words")
    with realm.guest.register() as queue:
        remind(realm.guest, message)
        check_success(realm.member.request("PATCH", f"messages/{message}", content="other **words**"))
        assert "first words" not in waiting(realm.guest)
        assert "<strong>words</strong>" in waiting(realm.guest)
        said = reminded(realm.stage, queue)
    assert "other" in said
    assert "first words" not in said
    assert "my note" in said


@pytest.mark.holds("reminders.refers")
@pytest.mark.parametrize("way", ["deleted", "left", "direct"])
def test_a_reminder_keeps_nothing_of_what_is_out_of_reach(realm: Realm, way: str) -> None:
    secret: Channel = realm.stage.channel(realm.member, realm.guest, invite_only=True, realm_id=realm.id)
    to = [realm.guest.id] if way == "direct" else secret.stream_id
    message = realm.member.send(to, None if way == "direct" else "secret topic", "secret words")
    with realm.guest.register() as queue:
        remind(realm.guest, message)
        if way == "left":
            sub = {"subscriptions": [secret.name], "principals": [realm.guest.id]}
            check_success(realm.owner.request("DELETE", "users/me/subscriptions", **sub))
            realm.stage.sql(
                "delete from read_state where user_id = %s and conversation_id = %s", realm.guest.id, secret.stream_id
            )
        else:
            check_success(realm.member.request("DELETE", f"messages/{message}"))
        assert "secret" not in waiting(realm.guest)
        said = reminded(realm.stage, queue)
    assert "secret" not in said
    assert "my note" in said
