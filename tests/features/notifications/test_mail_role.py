"""Mail in, through the front door: the role `tertulia mail`, by SMTP and LMTP, on real engines."""

import re
import smtplib
from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP as SMTP_LINES
from pathlib import Path

import httpx
import pytest

from tertulia.kernel.ids import digest_of_key
from tertulia.notifications.mail_in.addresses import new_token
from tertulia.server.mail import END
from tests.features.notifications.test_missed_mail import Post
from tests.harness.files import fetch
from tests.harness.mail_role import MailRole, hand_over, letter, mail_role
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import MAIL_IN, Channel, OwnServer, Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_error, check_success, eventually


@pytest.fixture(scope="module")
def role(server: Server, shared_folder: Path) -> Iterator[MailRole]:
    if not isinstance(server, OwnServer):
        pytest.skip("mail can be handed in only where the server runs")
    with mail_role(server, shared_folder) as running:
        yield running


@pytest.fixture
def post(realm: Realm, folder_of_mails: Path) -> Post:
    return Post(realm, folder_of_mails)


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.member, realm.owner, realm_id=realm.id)


def latest(person: Speaker, narrow: list[dict[str, object]]) -> dict[str, object]:
    found = person.get("messages", anchor="newest", num_before=1, num_after=0, narrow=narrow, apply_markdown=False)
    message: dict[str, object] = found["messages"][-1]
    return message


def in_channel(channel: Channel) -> list[dict[str, object]]:
    return [{"operator": "channel", "operand": channel.stream_id}]


def metrics_of(role: MailRole) -> str:
    return httpx.get(f"{role.metrics}/metrics", trust_env=False).text


def reply_address(mail: EmailMessage) -> str:
    return str(mail["Reply-To"])


def test_an_answer_becomes_one_message_of_that_person_however_often_it_is_delivered(
    realm: Realm, channel: Channel, post: Post, role: MailRole
) -> None:
    me, narrow = realm.member, [{"operator": "channel", "operand": channel.stream_id}]
    asked = realm.owner.send(channel.stream_id, "tea", f"@**|{me.id}** green or black?")
    [mail] = post.about(me, asked)
    to, text = reply_address(mail), mail.get_body(("plain",))
    assert text is not None
    quoted = "".join(f"> {line}\n" for line in text.get_content().split("\n"))
    answer = letter(f"Black, please.\n\nOn Mon, Nov 16, 2026 at 9:15 AM Elsewhere <{to}> wrote:\n\n{quoted}")
    answer.add_attachment(b"leaves", "text", "plain", filename="list of teas.txt")
    # From: is somebody else's, and does not matter.
    assert role.send(answer, to) == (250, "2.0.0 Ok")
    assert role.deliver(answer, to.upper())[0] == 250
    said = latest(realm.owner, narrow)
    assert (said["sender_id"], said["subject"], said["client"]) == (me.id, "tea", "Mail")
    body, _, link = str(said["content"]).partition("\n\n")
    assert body == "Black, please."
    assert link.startswith("[list-of-teas.txt](/user_uploads/")
    files = me.get("attachments")["attachments"]
    assert [(file["name"], file["size"]) for file in files] == [("list-of-teas.txt", 6)]
    before = realm.owner.get("messages", anchor="newest", num_before=10, num_after=0, narrow=narrow)["messages"]
    assert [one["sender_id"] for one in before] == [realm.owner.id, me.id]


def test_a_mail_of_ours_that_is_enclosed_tells_nobody_where_it_is_answered(
    realm: Realm, channel: Channel, post: Post, role: MailRole
) -> None:
    """Whoever knew the address could write as the person who got the mail."""
    me = realm.member
    [mail] = post.about(me, realm.owner.send(channel.stream_id, "tea", f"@**|{me.id}** green or black?"))
    to = reply_address(mail)
    answer = letter("I was asked this.")
    answer.add_attachment(mail)
    answer.add_attachment(mail.as_bytes(), "application", "octet-stream", filename="asked.eml")
    assert role.send(answer, to) == (250, "2.0.0 Ok")
    links = re.findall(r"\((/user_uploads/[^)]+)\)", str(latest(realm.owner, in_channel(channel))["content"]))
    read = [fetch(realm.owner, link).text for link in links]
    assert len(read) == 2
    for text in read:
        assert "green or black?" in text
        assert to.lower() not in text.lower()


def test_an_answer_to_a_direct_message_goes_to_those_people(realm: Realm, post: Post, role: MailRole) -> None:
    asked = realm.owner.send([realm.member.id], content="Tea?")
    [mail] = post.about(realm.member, asked)
    assert role.deliver(letter("Yes."), reply_address(mail))[0] == 250
    said = latest(realm.owner, [{"operator": "dm", "operand": [realm.member.id]}])
    assert (said["sender_id"], said["content"]) == (realm.member.id, "Yes.")


def test_rights_are_those_of_the_moment_and_what_is_refused_is_refused_for_good(
    realm: Realm, channel: Channel, post: Post, role: MailRole
) -> None:
    asked = realm.owner.send(channel.stream_id, "tea", f"@**|{realm.member.id}** well?")
    [mail] = post.about(realm.member, asked)
    to = reply_address(mail)
    groups = realm.owner.get("user_groups")["user_groups"]
    nobody = next(group["id"] for group in groups if group["name"] == "role:nobody")
    rule = {"can_send_message_group": {"new": nobody}}
    check_success(realm.owner.request("PATCH", f"streams/{channel.stream_id}", **rule))
    enclosed = letter("I may not.")
    enclosed.add_attachment(b"x", "text", "plain", filename="x.txt")
    code, said = role.send(enclosed, to)
    assert (code, "permission" in said) == (550, True)
    assert realm.member.get("attachments")["attachments"] == []
    for wrong in (to.replace("reply+", "reply+a"), "reply+x@mail.example.com", "somebody@example.org"):
        assert role.send(letter("Hello"), wrong)[0] == 550
    realm.stage.sql("update reply_address set expires = now() where user_id = %s returning 1", realm.member.id)
    code, said = role.send(letter("Too late."), to)
    assert (code, said.startswith("5.1.1 Nobody is at this address")) == (550, True)
    assert latest(realm.owner, [{"operator": "channel", "operand": channel.stream_id}])["id"] == asked


def test_answering_machines_and_our_own_mails_become_nothing(realm: Realm, post: Post, role: MailRole) -> None:
    asked = realm.owner.send([realm.member.id], content="Tea?")
    [mail] = post.about(realm.member, asked)
    to = reply_address(mail)
    assert role.send(letter("I am away.", Auto_Submitted="auto-replied"), to)[0] == 250
    assert role.send(letter("It did not arrive."), to, sender="")[0] == 250
    assert role.send(mail, to)[0] == 250
    assert latest(realm.owner, [{"operator": "dm", "operand": [realm.member.id]}])["id"] == asked
    assert role.send(letter("> only a quotation"), to)[0] == 550


def test_a_mail_that_shows_nothing_has_no_address_for_answers(realm: Realm, post: Post) -> None:
    check_success(realm.member.request("PATCH", "settings", message_content_in_email_notifications=False))
    asked = realm.owner.send([realm.member.id], content="Tea?")
    [mail] = post.about(realm.member, asked)
    assert mail["Reply-To"] is None


def test_a_channel_has_an_address_once_somebody_makes_one_and_it_can_be_another(
    realm: Realm, channel: Channel, role: MailRole
) -> None:
    path = f"streams/{channel.stream_id}/email_address"
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    assert realm.member.get(path)["email"] == ""
    first = check_success(realm.member.request("POST", path))["email"]
    assert realm.member.get(path)["email"] == first
    assert realm.owner.get(path)["email"] == ""
    alert = letter("The disk of @**all** is full.\n-- \nmonitor", "[alert] Disk", Auto_Submitted="auto-generated")
    assert role.deliver(alert, first, sender="")[0] == 250
    said = latest(realm.owner, narrow)
    assert (said["sender_id"], said["subject"]) == (realm.member.id, "[alert] Disk")
    assert "From: Bob" in str(said["content"]).replace("&lt;", "<")
    assert "The disk of" in str(said["content"])
    assert "monitor" not in str(said["content"])
    assert "wildcard_mentioned" not in str(said["flags"])
    forwarded = letter(f"An: Alarm <{first.upper()}>\nso far", f"WG: {first}")
    assert role.deliver(forwarded, first)[0] == 250
    said = latest(realm.owner, narrow)
    assert "so far" in str(said["content"])
    assert first not in str(said).lower()  # whoever reads it could write as the member
    second = check_success(realm.member.request("POST", path))["email"]
    assert second != first
    assert role.deliver(letter("x"), first)[0] == 550
    assert role.deliver(letter("An answer", "Re: Fwd: [alert] Disk"), second)[0] == 250
    assert latest(realm.owner, narrow)["subject"] == "[alert] Disk"
    check_success(realm.member.request("DELETE", path))
    assert role.deliver(letter("x"), second)[0] == 550
    check_error(realm.guest.request("POST", path), "STREAM_DOES_NOT_EXIST", stream_id=channel.stream_id)
    check_error(realm.member.request("POST", path, sender_id=realm.owner.id))


def test_where_no_mail_is_taken_in_there_is_no_address_and_it_is_said(
    realm: Realm, channel: Channel, server: OwnServer, folder: Path
) -> None:
    path = f"streams/{channel.stream_id}/email_address"
    assert realm.member.get(path)["takes_mail"] is True
    check_success(realm.member.request("POST", path))
    web = Web(server, folder, mail_in_address="")
    try:
        elsewhere = realm.speaker(url=web.wait().url)
        realm.stage.add(channel, elsewhere)
        assert (found := elsewhere.get(path))["email"] == ""
        assert found["takes_mail"] is False
        check_error(elsewhere.request("POST", path), "NO_MAIL")
    finally:
        web.stop()


def test_each_transaction_has_one_recipient_and_there_are_not_too_many_lines(
    realm: Realm, channel: Channel, role: MailRole
) -> None:
    path = f"streams/{channel.stream_id}/email_address"
    to = check_success(realm.member.request("POST", path))["email"]
    eventually(lambda: "tertulia_mail_in_connections 0.0" in metrics_of(role))
    lines = [smtplib.SMTP("127.0.0.1", role.port, timeout=30) for _ in range(3)]
    try:
        with pytest.raises(smtplib.SMTPConnectError) as refused:
            smtplib.SMTP("127.0.0.1", role.port, timeout=30)
        assert refused.value.smtp_code == 421
        lines[0].ehlo()
        lines[0].mail("a@example.com")
        assert [lines[0].rcpt(to)[0] for _ in range(2)] == [250, 452]
        lines[0].rset()
        assert int(lines[0].esmtp_features["size"]) == 25 * 2**20
        assert hand_over(lines[1], letter("One more"), to, "a@example.com")[0] == 250
    finally:
        for line in lines:
            line.close()


def test_a_mail_may_have_25_mib_and_not_a_byte_more(realm: Realm, channel: Channel, role: MailRole) -> None:
    """Whether its size is said before or not; what is on the line afterwards is a mail of its own."""
    path = f"streams/{channel.stream_id}/email_address"
    to = check_success(realm.member.request("POST", path))["email"]
    limit = 25 * 2**20
    with smtplib.SMTP("127.0.0.1", role.port, timeout=120) as smtp:
        smtp.ehlo()
        assert smtp.mail("a@example.com", [f"SIZE={limit + 1}"])[0] == 552
        for size, expected in ((limit + 1, 552), (limit, 250)):
            smtp.rset()
            assert (smtp.mail("a@example.com")[0], smtp.rcpt(to)[0]) == (250, 250)
            assert smtp.data(mail_of(size))[0] == expected
    said = latest(realm.owner, [{"operator": "channel", "operand": channel.stream_id}])
    assert "of the largest kind" in str(said["content"])
    [file] = realm.member.get("attachments")["attachments"]
    assert file["size"] > limit * 0.7  # less than that of the mail: it was encoded there


def mail_of(size: int) -> bytes:
    """A mail of exactly so many bytes on the line, with its end, that is mostly a file."""
    mail = letter("This is one of the largest kind.", "Plans")
    mail.add_attachment(bytes((size - 5_000) * 3 // 4 * 76 // 78), "application", "zip", filename="plans.zip")
    text = mail.as_bytes(policy=SMTP_LINES)
    assert len(text) < size - 20
    padding = b"X-Padding: " + b"x" * 900 + b"\r\n"
    head = b""
    while len(head) + len(padding) + len(text) + 20 < size - len(END):
        head += padding
    rest = size - len(END) + 2 - len(head) - len(text)  # the last line's end is part of the end
    return head + b"X-Rest: " + b"x" * (rest - 10) + b"\r\n" + text


def test_who_sends_too_much_by_mail_is_told_to_come_again(
    realm: Realm, channel: Channel, server: OwnServer, folder: Path
) -> None:
    """Of one account, whichever address; a mail that came before costs nothing, and others go on."""
    path = f"streams/{channel.stream_id}/email_address"
    mine, theirs = (check_success(one.request("POST", path))["email"] for one in (realm.member, realm.owner))
    with mail_role(server, folder, rate_limits="true", mail_in_rate="2/3600") as limited:
        first = letter("One")
        assert [limited.send(first, mine)[0] for _ in range(3)] == [250, 250, 250]
        assert limited.deliver(letter("Two"), mine)[0] == 250
        assert limited.deliver(letter("Three"), mine) == (451, "4.3.0 This cannot be done now. Please try again later.")
        assert limited.send(letter("Somebody else"), theirs)[0] == 250
        assert 'tertulia_mails_in_total{outcome="put_off"} 1.0' in metrics_of(limited)
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    found = realm.owner.get("messages", anchor="newest", num_before=10, num_after=0, narrow=narrow)["messages"]
    assert [one["sender_id"] for one in found] == [realm.member.id, realm.member.id, realm.owner.id]


def test_addresses_end_with_what_opens_the_account(realm: Realm, channel: Channel, role: MailRole) -> None:
    """And do not come back with it: whoever knows one writes as that person."""
    me, path = realm.member, f"streams/{channel.stream_id}/email_address"
    give_password(realm.stage, me, realm.owner)

    def made(person: Speaker = me) -> tuple[str, str]:
        token = new_token()
        realm.stage.sql(
            "insert into reply_address (digest, user_id, conversation_id, expires) values (%s, %s, %s, now() + '1 day')"
            " returning 1", digest_of_key(token), person.id, channel.stream_id,
        )  # fmt: skip
        return check_success(person.request("POST", path))["email"], MAIL_IN.replace("%s", token)

    def known(addresses: tuple[str, str]) -> tuple[bool, ...]:
        with smtplib.SMTP("127.0.0.1", role.port, timeout=30) as smtp:
            smtp.ehlo()
            smtp.mail("a@example.com")
            codes = []
            for address in addresses:
                codes.append(smtp.rcpt(address)[0] == 250)
                smtp.rset()
                smtp.mail("a@example.com")
        return tuple(codes)

    theirs, renamed = made(realm.moderator), {"new_email": f"{new_token()}@example.com"}
    assert known(theirs) == (True, True)
    check_success(realm.owner.request("PATCH", f"users/{realm.moderator.id}", **renamed))
    assert known(theirs) == (True, False)
    mine = made()
    new = {"old_password": PASSWORD, "new_password": "quiet harbour lights at dusk"}
    check_success(me.request("POST", "sessions/end_others", password=PASSWORD))
    assert known(mine) == (False, False)
    mine = made()
    check_success(realm.owner.request("DELETE", f"users/{me.id}"))
    check_success(realm.owner.request("POST", f"users/{me.id}/reactivate"))
    assert known(mine) == (False, False)
    others = made(realm.owner)
    check_success(realm.owner.request("PATCH", "settings", **new))
    assert known(others) == (False, True)
