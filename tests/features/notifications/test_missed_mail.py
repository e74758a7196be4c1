"""Mail about missed messages: what is in it, what cancels it, and the way out of it."""

import re
import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.features.notifications.unreadable import unreadable_settings
from tests.harness.mails import mails_to
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage
from tests.harness.talk import Queue, Speaker, check_error, check_success, eventually


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.member, realm.owner, realm.moderator, realm_id=realm.id)


@pytest.fixture
def post(realm: Realm, folder_of_mails: Path) -> "Post":
    return Post(realm, folder_of_mails)


class Post:
    """Lets the time of batches pass, and reads what was mailed."""

    def __init__(self, realm: Realm, folder: Path) -> None:
        self.realm, self.folder, self.stage = realm, folder, realm.stage

    def decided(self, *message_ids: int) -> None:
        """Wait until it is decided whom these concern."""
        sql = "select 1 from push_due where message_id = any(%s)"
        eventually(lambda: self.stage.sql(sql, list(message_ids)) == [])

    def waiting(self, person: Speaker) -> list[int]:
        sql = "select message_id from missed_message where user_id = %s order by message_id"
        return [row[0] for row in self.stage.sql(sql, person.id)]

    def pass_time(self, person: Speaker) -> None:
        """The batch is due, and dealt with."""
        moved = "update mail_batch set due = now() - interval '1 second' where user_id = %s returning user_id"
        self.stage.sql(moved, person.id)
        sql = "select 1 from mail_batch where user_id = %s and due <= now()"
        eventually(lambda: self.stage.sql(sql, person.id) == [])
        sent = "select 1 from mail_outbox where recipient = %s"
        eventually(lambda: self.stage.sql(sent, person.email) == [])

    def got(self, person: Speaker) -> list[EmailMessage]:
        return mails_to(self.folder, person.email, 0)

    def came_at(self, person: Speaker) -> int:
        """When the first mail to somebody came."""
        mails_to(self.folder, person.email)
        return min(file.stat().st_mtime_ns for file in self.folder.glob(f"*{person.email}.eml"))

    def about(self, person: Speaker, *message_ids: int) -> list[EmailMessage]:
        """What somebody is mailed about these."""
        self.decided(*message_ids)
        self.pass_time(person)
        return self.got(person)


def parts(mail: EmailMessage) -> tuple[str, str]:
    """Text and HTML."""
    assert mail.get_content_type() == "multipart/alternative"
    text, html = mail.iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    return str(text.get_content()).replace("\r\n", "\n"), str(html.get_content())


def test_messages_of_a_conversation_are_one_mail_with_its_parts_and_headers(realm: Realm, post: Post) -> None:
    first = realm.owner.send([realm.member.id], content="Tea is *ready* :tada:\n\n```spoiler End\nthe cat\n```")
    second = realm.owner.send([realm.member.id], content="See [here](/x) and https://example.com/a?b=1&c=2")
    [mail] = post.about(realm.member, first, second)
    text, html = parts(mail)
    assert mail["Subject"] == "Direct messages with Somebody New"
    assert mail["From"].startswith("Elsewhere notifications <")
    host = realm.host
    assert mail["In-Reply-To"] == mail["References"]
    assert re.fullmatch(rf"<conversation\.\d+\.0@{host}>", mail["References"])
    assert re.fullmatch(rf"<missed\.[0-9a-f]{{24}}@{host}>", mail["Message-ID"])
    assert (mail["Auto-Submitted"], mail["List-Id"]) == ("auto-generated", f"<{host}>")
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "> Tea is ready 🎉" in text
    assert "the cat" not in text + html
    assert "<em>ready</em>" in html
    assert re.search(rf"> See here <https?://{host}[^>]*/x> and https://example\.com/a\?b=1&c=2\n", text)
    assert text.index("Tea") < text.index("See")
    assert re.search(rf"https?://{host}[^/]*/#narrow/dm/{realm.owner.id}/near/{first}\n", text)
    raw = (next(post.folder.glob(f"*{realm.member.email}.eml"))).read_bytes()
    # Neither folded nor encoded: programs read these as they are.
    assert re.search(
        rb"(?m)^List-Unsubscribe: <https?://[^\s>]+/accounts/unsubscribe/missed_messages/\d+\.[0-9a-f]{64}>\r?$", raw
    )
    assert realm.stage.sql("select 1 from mail_batch where user_id = %s", realm.member.id) == []


def test_each_conversation_has_its_own_mail_and_thread(realm: Realm, channel: Channel, post: Post) -> None:
    me, say = realm.member, realm.owner.send
    ids = [
        say(channel.stream_id, "tea", f"@**|{me.id}** tea"),
        say(channel.stream_id, "cake", f"@**|{me.id}** cake"),
        say([me.id], content="between us"),
        say(channel.stream_id, "tea", f"@**|{me.id}** more tea"),
    ]
    tea, cake, direct = post.about(me, *ids)
    assert (tea["Subject"], cake["Subject"]) == (f"#{channel.name} > tea", f"#{channel.name} > cake")
    assert len({mail["References"] for mail in (tea, cake, direct)}) == 3
    assert "more tea" in parts(tea)[0]
    renamed = realm.owner.request("PATCH", f"messages/{ids[0]}", topic="✔ tea", propagate_mode="change_all")
    check_success(renamed)
    again = say(channel.stream_id, "✔ tea", f"@**|{me.id}** done")
    mail = post.about(me, again)[-1]
    assert (mail["Subject"], mail["References"]) == (f"[resolved] #{channel.name} > tea", tea["References"])


def test_whoever_is_mentioned_everywhere_gets_few_mails(realm: Realm, channel: Channel, post: Post) -> None:
    ids = [realm.owner.send(channel.stream_id, f"tea {number}", f"@**|{realm.member.id}**") for number in range(13)]
    mails = post.about(realm.member, *ids)
    assert sorted(str(mail["Subject"]) for mail in mails) == sorted(
        [f"#{channel.name} > tea {number}" for number in range(10)] + ["New messages"]
    )
    [rest] = [mail for mail in mails if mail["Subject"] == "New messages"]
    assert "You have unread messages in 3 more conversations." in parts(rest)[0]
    assert post.waiting(realm.member) == []


def test_a_mail_with_long_runs_of_spaces_takes_no_longer_than_others(
    realm: Realm, channel: Channel, post: Post
) -> None:
    dear = f"@**|{realm.member.id}**\n```\nx{chr(9) * 4_600}x\n```"  # a tab is four spaces
    ids = [realm.owner.send(channel.stream_id, f"tea {number % 2}", dear) for number in range(8)]
    post.decided(*ids)
    began = time.monotonic()
    post.pass_time(realm.member)
    assert time.monotonic() - began < 15
    assert [mail["Subject"] for mail in post.got(realm.member)] == [f"#{channel.name} > tea {one}" for one in range(2)]


def test_long_messages_in_many_conversations_are_told_in_part_and_counted(
    realm: Realm, channel: Channel, post: Post
) -> None:
    long = f"@**|{realm.member.id}** {'*a* ' * 2_400}"
    ids = [realm.owner.send(channel.stream_id, f"tea {number % 2}", long) for number in range(8)]
    mails = [parts(mail)[1] for mail in post.about(realm.member, *ids)]
    shown = [mail.count("Somebody New <span") for mail in mails]
    assert shown == [4, 1]  # there is room for five of them, be it in one mail or in ten
    assert "And 3 more." in mails[1]
    assert post.waiting(realm.member) == []


def test_a_flood_in_one_organization_does_not_delay_the_mails_of_another(
    realm: Realm, stage: Stage, post: Post
) -> None:
    crowd, other = [realm.speaker() for _ in range(25)], Realm(stage)
    sent = [realm.owner.send([one.id], content="hi") for one in crowd]
    post.decided(*sent, other.owner.send([other.member.id], content="hi"))
    ids = [one.id for one in crowd]
    # All become due in one moment, and those of the crowd have waited longer.
    hours = (
        "update mail_batch set due = now() - interval '1 hour' * (1 + (user_id = any(%s))::int) where user_id = any(%s)"
    )
    stage.sql(hours, ids, [*ids, other.member.id])
    assert post.came_at(other.member) < max(map(post.came_at, crowd))


@pytest.mark.slow
def test_a_read_state_of_many_gaps_is_unpacked_once_for_all_that_was_missed(
    realm: Realm, channel: Channel, post: Post
) -> None:
    me = realm.member
    ids = [realm.owner.send(channel.stream_id, "tea", f"@**|{me.id}** {number}") for number in range(30)]
    post.decided(*ids)
    gaps = "select range_agg(int8range(2 * n, 2 * n + 1)) from generate_series(1000, 11000) as n"
    sql = f"update read_state set read = ({gaps}) where user_id = %s and conversation_id = %s returning pg_column_size(read)"
    [(size,)] = realm.stage.sql(sql, me.id, channel.stream_id)
    before = pages_read(realm)
    assert len(post.about(me, *ids)) == 1
    assert pages_read(realm) - before < 10 * size // 8192, "for each message it would be 30 times"


def pages_read(realm: Realm) -> int:
    """How many pages of read states that have no room in their rows were read, ever. A session tells it after ten seconds."""
    time.sleep(11)
    sql = "select toast_blks_hit + toast_blks_read from pg_statio_user_tables where relname = 'read_state'"
    return int(realm.stage.sql(sql)[0][0])


def test_somebody_whose_mails_cannot_be_made_keeps_nobody_elses_back(realm: Realm, post: Post) -> None:
    people = [realm.moderator, realm.member, realm.guest]
    post.decided(*(realm.owner.send([person.id], content="Tea?") for person in people))
    with unreadable_settings(realm, realm.moderator):
        soonest = "update mail_batch set due = now() - interval '1 day' where user_id = any(%s) returning user_id"
        realm.stage.sql(soonest, [person.id for person in people])
        eventually(lambda: [len(post.got(person)) for person in people] == [0, 1, 1])
        waits = "select 1 from mail_batch where user_id = %s and due > now() + interval '50 minutes'"
        eventually(lambda: realm.stage.sql(waits, realm.moderator.id) == [(1,)])
    assert len(post.about(realm.moderator)) == 1


def test_a_link_that_is_no_address_keeps_no_mail_back(realm: Realm, post: Post) -> None:
    sent = realm.owner.send([realm.member.id], content="http://\uff0f@a and [there](//[b) and [here](/x)")
    [mail] = post.about(realm.member, sent)
    assert re.search(rf"there <https?://{realm.host}[^/>]*> and here <https?://{realm.host}[^/>]*/x>", parts(mail)[0])


def test_a_mention_comes_with_what_was_said_before(realm: Realm, channel: Channel, post: Post) -> None:
    me, other = realm.member, realm.owner
    old = other.send(channel.stream_id, "tea", "long ago")
    realm.stage.sql("update message set sent_at = now() - interval '20 minutes' where id = %s", old)
    me.post(f"users/me/muted_users/{realm.moderator.id}")
    earlier = [
        old,
        realm.moderator.send(channel.stream_id, "tea", "from somebody muted"),
        other.send(channel.stream_id, "cake", "elsewhere"),
        other.send(channel.stream_id, "tea", "the kettle is on"),
    ]
    post.decided(*earlier)  # whoever is mentioned follows the topic from then on
    sent = other.send(channel.stream_id, "tea", f"@**|{me.id}** come")
    [mail] = post.about(me, sent)
    text, _ = parts(mail)
    assert text.index("(Earlier)") < text.index("the kettle is on") < text.index("come")
    assert not re.search("long ago|from somebody muted|elsewhere", text)


def cancel_by_reading(realm: Realm, channel: Channel, sent: int) -> None:
    realm.member.post("messages/flags", messages=[sent], op="add", flag="read")


def cancel_by_deleting(realm: Realm, channel: Channel, sent: int) -> None:
    realm.owner.delete(f"messages/{sent}")


def cancel_by_muting_the_sender(realm: Realm, channel: Channel, sent: int) -> None:
    realm.member.post(f"users/me/muted_users/{realm.owner.id}")


def cancel_by_muting_the_topic(realm: Realm, channel: Channel, sent: int) -> None:
    realm.member.post("user_topics", stream_id=channel.stream_id, topic="tea", visibility_policy=1)


def cancel_by_leaving(realm: Realm, channel: Channel, sent: int) -> None:
    realm.member.delete("users/me/subscriptions", subscriptions=[channel.name])


def cancel_by_setting(realm: Realm, channel: Channel, sent: int) -> None:
    check_success(realm.member.request("PATCH", "settings", enable_offline_email_notifications=False))


def cancel_by_leaving_for_good(realm: Realm, channel: Channel, sent: int) -> None:
    realm.owner.delete(f"users/{realm.member.id}")


Cancel = Callable[[Realm, Channel, int], None]


@pytest.mark.parametrize(
    "cancel",
    [
        cancel_by_reading,
        cancel_by_deleting,
        cancel_by_muting_the_sender,
        cancel_by_muting_the_topic,
        cancel_by_leaving,
        cancel_by_setting,
        cancel_by_leaving_for_good,
    ],
)
def test_what_was_read_deleted_muted_or_lost_meanwhile_is_not_mailed(
    realm: Realm, channel: Channel, post: Post, cancel: Cancel
) -> None:
    sent = realm.owner.send(channel.stream_id, "tea", "@**all** come")
    post.decided(sent)
    assert post.waiting(realm.member) == post.waiting(realm.moderator) == [sent]
    if cancel is not cancel_by_deleting:
        cancel(realm, channel, sent)
        post.pass_time(realm.moderator)
        assert len(post.got(realm.moderator)) == 1
    else:
        cancel(realm, channel, sent)
    post.pass_time(realm.member)
    assert (post.waiting(realm.member), post.got(realm.member)) == ([], [])


def test_an_edit_meanwhile_is_shown_as_it_reads_now(realm: Realm, post: Post) -> None:
    sent = realm.owner.send([realm.member.id], content="at nien")
    check_success(realm.owner.request("PATCH", f"messages/{sent}", content="at nine"))
    [mail] = post.about(realm.member, sent)
    assert "at nine" in parts(mail)[0]
    assert "nien" not in parts(mail)[0]


def test_settings_say_which_messages_are_mailed(realm: Realm, channel: Channel, post: Post) -> None:
    me, other = realm.member, realm.owner

    def choose(**settings: bool) -> None:
        check_success(me.request("PATCH", "settings", **settings))

    plain = other.send(channel.stream_id, "tea", "plain")
    me.post("user_topics", stream_id=channel.stream_id, topic="cake", visibility_policy=3)
    followed = other.send(channel.stream_id, "cake", "followed")
    post.decided(plain, followed)
    assert post.waiting(me) == [followed]
    choose(enable_followed_topic_email_notifications=False)
    unfollowed = other.send(channel.stream_id, "cake", "quietly")
    choose_channel = {"stream_id": channel.stream_id, "property": "email_notifications", "value": True}
    post.decided(unfollowed)
    me.post("users/me/subscriptions/properties", subscription_data=[choose_channel])
    loud = other.send(channel.stream_id, "pie", "all of it")
    post.decided(loud)
    assert post.waiting(me) == [followed, loud]
    me.post("users/me/subscriptions/properties", subscription_data=[choose_channel | {"value": False}])
    choose(enable_stream_email_notifications=True)
    overruled = other.send(channel.stream_id, "pie", "the channel's own value counts")
    choose(enable_offline_email_notifications=False)
    direct = other.send([me.id], content="not by mail")
    post.decided(overruled, direct)
    assert post.waiting(me) == [followed, loud]
    post.pass_time(me)
    assert post.got(me) == []  # one switch ends them all


@pytest.mark.parametrize("by", ["organization", "person"])
def test_content_is_shown_only_where_both_allow_it(realm: Realm, channel: Channel, post: Post, by: str) -> None:
    if by == "organization":
        check_success(realm.owner.request("PATCH", "realm", message_content_allowed_in_email_notifications=False))
    else:
        check_success(realm.member.request("PATCH", "settings", message_content_in_email_notifications=False))
    sent = realm.owner.send(channel.stream_id, "surprise party", f"@**|{realm.member.id}** a secret")
    [mail] = post.about(realm.member, sent)
    text, html = parts(mail)
    assert mail["Subject"] == "New messages"
    for told in (str(mail["References"]), text, html):
        assert not re.search(rf"secret|surprise|party|{re.escape(channel.name)}|Somebody New", told)
    said = "Elsewhere doesn’t show" if by == "organization" else "Your settings keep messages out"
    assert said in text
    assert f"/#narrow/id/{sent}" in text


def test_a_mail_is_in_the_readers_language_and_time(realm: Realm, post: Post) -> None:
    settings = {"default_language": "es", "timezone": "America/Lima", "twenty_four_hour_time": True}
    check_success(realm.member.request("PATCH", "settings", **settings))
    sent = realm.owner.send([realm.member.id], content="hola")
    realm.stage.sql("update message set sent_at = '2026-03-01 02:05:00+00' where id = %s", sent)
    [mail] = post.about(realm.member, sent)
    text, html = parts(mail)
    assert mail["Subject"] == "Mensajes directos con Somebody New"
    assert "2026-02-28 21:05" in text
    assert '<html lang="es" dir="ltr">' in html


def test_the_organization_is_named_as_the_setting_says(realm: Realm, post: Post) -> None:
    subjects = []
    for policy in (1, 2, 3):
        check_success(realm.member.request("PATCH", "settings", realm_name_in_email_notifications_policy=policy))
        subjects.append(post.about(realm.member, realm.owner.send([realm.member.id], content="hi"))[-1]["Subject"])
    plain = "Direct messages with Somebody New"
    assert subjects == [plain, f"{plain} [Elsewhere]", plain]


def test_whoever_was_active_gets_a_mail_only_if_they_had_left(realm: Realm, post: Post) -> None:
    me, other = realm.member, realm.owner

    def be_active(seconds_ago: int) -> None:
        me.post("users/me/presence", status="active", new_user_input=True, ping_only=True)
        sql = "update presence set active_at = now() - make_interval(secs => %s) where user_id = %s"
        realm.stage.sql(sql, seconds_ago, me.id)

    be_active(100)
    left = other.send([me.id], content="are you there?")
    assert post.about(me, left) == []
    assert post.waiting(me) == [left]  # not known yet
    be_active(201)
    assert len(post.about(me, left)) == 1
    be_active(100)
    there = other.send([me.id], content="and now?")
    post.decided(there)
    me.post("users/me/presence", status="active", new_user_input=True, ping_only=True)
    post.pass_time(me)
    assert (post.waiting(me), len(post.got(me))) == ([], 1)


def stop_link(mail: EmailMessage) -> str:
    return urlsplit(str(mail["List-Unsubscribe"]).strip("<>")).path


def test_one_click_ends_these_mails_and_merely_looking_does_not(realm: Realm, post: Post) -> None:
    me, visitor = realm.member, realm.stage.nobody(host=realm.host)
    [mail] = post.about(me, realm.owner.send([me.id], content="hello"))
    path = stop_link(mail)
    queue = Queue(me, event_types=["user_settings"])
    server = realm.stage.server.url
    url = f"{server}{path}"
    shown = visitor.http.get(url)
    assert (shown.status_code, "Unsubscribe</button>" in shown.text) == (200, True)
    done = visitor.http.post(url, data={"List-Unsubscribe": "One-Click"})
    assert (done.status_code, done.history) == (200, [])
    [event] = queue.poll()
    assert (event["property"], event["value"]) == ("enable_offline_email_notifications", False)
    sent = realm.owner.send([me.id], content="hello again")
    post.decided(sent)
    assert post.waiting(me) == []
    forged = path.replace(f"/{me.id}.", f"/{realm.moderator.id}.")
    for wrong in (forged, path[:-1], f"{path}0", path.rpartition(".")[0], "/accounts/unsubscribe/missed_messages/x"):
        assert visitor.http.post(f"{server}{wrong}").status_code == 404, wrong
    elsewhere = realm.stage.nobody(host=Realm(realm.stage).host)
    assert elsewhere.http.post(url).status_code == 404
    assert post.about(realm.moderator, realm.owner.send([realm.moderator.id], content="still there"))


def test_an_address_that_always_fails_is_not_written_to_and_an_administrator_sees_it(realm: Realm, post: Post) -> None:
    me = realm.member
    fail = """
    insert into mail_failure (email_key, failures, failing_since, reason)
    values (%s, %s, now() - make_interval(days => %s), '550 no such mailbox')
    on conflict (email_key) do update set failures = excluded.failures, failing_since = excluded.failing_since
    """
    check_error(me.request("GET", "realm/mail_failures"), code="UNAUTHORIZED_PRINCIPAL")
    for failures, days in ((50, 1), (2, 30)):
        realm.stage.sql(fail, me.email.lower(), failures, days)
        [known] = realm.administrator.get("realm/mail_failures")["mail_failures"]
        assert (known["user_id"], known["failures"], known["is_stopped"]) == (me.id, failures, False)
    realm.stage.sql(fail, me.email.lower(), 3, 2)
    [known] = realm.administrator.get("realm/mail_failures")["mail_failures"]
    assert (known["reason"], known["is_stopped"]) == ("550 no such mailbox", True)
    assert post.about(me, realm.owner.send([me.id], content="unheard")) == []
    assert post.waiting(me) == []
    # What they ask for themselves is tried, and ends it when it is taken.
    realm.stage.nobody(host=realm.host).request("POST", "accounts/password/reset", email=me.email)
    eventually(lambda: realm.administrator.get("realm/mail_failures")["mail_failures"] == [])


def test_a_guest_is_not_told_who_somebody_out_of_sight_is(realm: Realm, stage: Stage, post: Post) -> None:
    [(members,)] = stage.sql("select id from user_group where realm_id = %s and name = 'role:members'", realm.id)
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group={"new": members}))
    stage.sql("update account set full_name = 'Hidden Name' where id = %s", realm.owner.id)
    channel = stage.channel(realm.guest, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "tea", f"@**|{realm.guest.id}** hello")
    [mail] = post.about(realm.guest, sent)
    assert "Unknown user" in parts(mail)[0]
    assert "Hidden Name" not in "".join(parts(mail))


def test_an_edit_mails_whom_it_mentions_besides_and_whom_it_no_longer_mentions_not(
    realm: Realm, channel: Channel, post: Post
) -> None:
    me, other, say = realm.member, realm.moderator, realm.owner
    sent = say.send(channel.stream_id, "tea", f"@**|{me.id}** tea")
    assert len(post.about(me, sent)) == 1
    edit(say, sent, f"@**|{me.id}** @**|{other.id}** tea")
    assert [len(post.about(person, sent)) for person in (me, other)] == [1, 1]
    edit(say, sent, "@**all** tea")  # they are mentioned still
    assert [len(post.about(person, sent)) for person in (me, other)] == [1, 1]
    check_success(me.request("PATCH", "settings", automatically_follow_topics_where_mentioned=False))
    unsaid = say.send(channel.stream_id, "cake", f"@**|{me.id}** cake")
    post.decided(unsaid)
    assert post.waiting(me) == [unsaid]
    edit(say, unsaid, "cake")
    assert len(post.about(me, unsaid)) == 1


def test_whoever_was_there_before_an_edit_mentioned_them_may_have_left_since(
    realm: Realm, channel: Channel, post: Post
) -> None:
    me = realm.member
    sent = realm.owner.send(channel.stream_id, "tea", "tea")
    me.post("users/me/presence", status="active", new_user_input=True, ping_only=True)
    edit(realm.owner, sent, f"@**|{me.id}** tea")
    post.decided(sent)
    assert post.waiting(me) == [sent]
    realm.stage.sql("update presence set active_at = now() - interval '5 minutes' where user_id = %s", me.id)
    realm.stage.sql("update message set sent_at = now() - interval '10 minutes' where id = %s", sent)
    assert len(post.about(me, sent)) == 1


def test_what_comes_in_a_pause_waits_for_its_end_and_is_one_mail(realm: Realm, post: Post) -> None:
    me = realm.member
    paused = {"notifications_paused_until": int(time.time()) + 3600}
    check_success(me.request("PATCH", "settings", **paused))
    sent = [realm.owner.send([me.id], content=f"word {number}") for number in (1, 2)]
    assert post.about(me, *sent) == []
    [(seconds,)] = realm.stage.sql(
        "select extract(epoch from due - now())::int from mail_batch where user_id = %s", me.id
    )
    assert isinstance(seconds, int)
    assert 500 < seconds <= 600  # looked at again before: it may end early
    check_success(me.request("PATCH", "settings", notifications_paused_until=0))
    [mail] = post.about(me, *sent)
    assert "word 1" in parts(mail)[0]
    assert "word 2" in parts(mail)[0]


def edit(speaker: Speaker, message_id: int, content: str) -> None:
    check_success(speaker.request("PATCH", f"messages/{message_id}", content=content))
