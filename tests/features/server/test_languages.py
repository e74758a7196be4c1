"""In which language the server speaks: to a person in theirs, to many in the organization's, to a stranger in their browser's."""

from pathlib import Path

import httpx

from tests.harness.mails import mails_to
from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_success, eventually, unique


def newest(reader: Speaker) -> str:
    return "".join(message["content"] for message in reader.window(before=1)["messages"][-1:])


def visit(realm: Realm, path: str, accepted: str) -> httpx.Response:
    nobody = realm.stage.nobody(host=realm.host)
    return nobody.http.get(f"{realm.stage.server.url}{path}", headers={"Accept-Language": accepted})


def speak(speaker: Speaker, language: str) -> None:
    check_success(speaker.request("PATCH", "settings", default_language=language))


def test_what_many_read_is_in_the_language_of_the_organization(realm: Realm, stage: Stage) -> None:
    check_success(realm.owner.request("PATCH", "realm", default_language="es"))
    channel = stage.channel(realm.member, realm.owner, realm_id=realm.id)
    sent = realm.member.send(channel.stream_id, "plan")

    def mark(topic: str) -> None:
        check_success(realm.member.request("PATCH", f"messages/{sent}", topic=topic, propagate_mode="change_all"))

    mark("✔ plan")
    eventually(lambda: "marcó este tema como resuelto." in newest(realm.owner))
    mark("plan")
    # Taken back at once: what was said of it goes, in this language too.
    eventually(lambda: realm.owner.window(before=1)["messages"][-1]["id"] == sent)


def test_what_one_person_reads_is_in_their_language(realm: Realm) -> None:
    speak(realm.member, "de")
    speak(realm.moderator, "pl")
    group = realm.owner.post("user_groups/create", name=unique("group"), description="", members=[])["group_id"]
    members = [realm.member.id, realm.moderator.id]
    check_success(realm.owner.request("POST", f"user_groups/{group}/members", add=members))
    eventually(lambda: "Gruppe" in newest(realm.member))
    eventually(lambda: "grupy" in newest(realm.moderator))


def test_a_mail_to_somebody_is_in_their_language_and_to_a_stranger_in_that_of_the_organization(
    realm: Realm, folder_of_mails: Path
) -> None:
    speak(realm.member, "fr")
    check_success(realm.owner.request("PATCH", "realm", default_language="it"))
    realm.stage.nobody(host=realm.host).post("accounts/password/reset", email=realm.member.email)
    [mail] = mails_to(folder_of_mails, realm.member.email)
    assert mail.get_content().startswith("Bonjour")
    stranger = unique("stranger").replace(" ", ".") + "@example.com"
    realm.owner.post("invites", invitee_emails=stranger, stream_ids=[])
    [mail] = mails_to(folder_of_mails, stranger)
    assert mail.get_content().startswith("Ciao")


def test_a_page_is_in_the_language_of_the_browser_or_of_the_organization(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", "realm", default_language="ja"))
    path = "/accounts/email/confirm/anything"
    assert '<html lang="ar" dir="rtl">' in visit(realm, path, "ar-EG, en;q=0.5").text
    assert '<html lang="zh-hans" dir="ltr">' in visit(realm, path, "fi, zh-CN;q=0.5").text
    assert '<html lang="ja" dir="ltr">' in visit(realm, path, "fi").text


def test_what_is_not_there_is_said_in_the_language_of_the_browser(realm: Realm) -> None:
    missing = visit(realm, "/public/channels/999999999", "es")
    assert (missing.status_code, "Aquí no hay nada" in missing.text) == (404, True)
    assert "Accept-Language" in missing.headers["vary"]


def test_a_visitor_learns_the_language_of_the_organization(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", "realm", default_language="pt-br"))
    assert realm.stage.nobody(host=realm.host).get("server_settings")["realm_default_language"] == "pt-br"
