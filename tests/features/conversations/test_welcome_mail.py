"""Mails about an account: welcome, and that it was deactivated."""

from email.message import EmailMessage
from pathlib import Path

from tests.harness.mails import mails_to
from tests.harness.realm import Realm
from tests.harness.talk import check_error, check_success, unique

PASSWORD = "seven copper kettles sing"


def address() -> str:
    return unique("new").replace(" ", ".") + "@example.com"


def text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def test_newcomers_are_welcomed_by_mail_unless_the_organization_does_not_want_it(
    realm: Realm, folder_of_mails: Path
) -> None:
    welcomed, spanish, silent = address(), address(), address()
    check_success(realm.owner.request("PATCH", "realm", name="The <Harbour>"))
    realm.owner.post("users", email=welcomed, password=PASSWORD, full_name="Ada")
    check_success(realm.owner.request("PATCH", "realm/user_settings_defaults", default_language="es"))
    realm.owner.post("users", email=spanish, password=PASSWORD, full_name="Eva")
    check_success(realm.owner.request("PATCH", "realm", send_welcome_emails=False))
    realm.owner.post("users", email=silent, password=PASSWORD, full_name="Kofi")
    [mail] = mails_to(folder_of_mails, welcomed)
    assert (mail["Subject"], mail["Auto-Submitted"]) == ("Welcome to The <Harbour>", "auto-generated")
    assert welcomed in text(mail)
    html = mail.get_body(("html",))
    assert html is not None
    assert "The &lt;Harbour&gt;" in html.get_content()
    [mail] = mails_to(folder_of_mails, spanish)
    assert mail["Subject"] == "Te damos la bienvenida a The <Harbour>"
    # Written in their order: the third would be there, or wait.
    assert realm.stage.sql("select 1 from mail_outbox where recipient = %s", silent) == []
    assert mails_to(folder_of_mails, silent, 0) == []


def test_whoever_is_deactivated_with_a_comment_reads_it_in_a_mail(realm: Realm, folder_of_mails: Path) -> None:
    quiet, told = realm.speaker(), realm.speaker()
    comment = "Thank you for <all> of it.\nCome back."
    check_success(realm.owner.request("DELETE", f"users/{quiet.id}"))
    path = f"users/{told.id}"
    refused = realm.member.request("DELETE", path, deactivation_notification_comment=comment)
    check_error(refused, "UNAUTHORIZED_PRINCIPAL")
    check_success(realm.owner.request("DELETE", path, deactivation_notification_comment=comment))
    [mail] = mails_to(folder_of_mails, told.email)
    assert mail["Subject"].startswith("Your account at ")
    assert comment in text(mail)
    html = mail.get_body(("html",))
    assert html is not None
    assert "Thank you for &lt;all&gt; of it.<br>Come back." in html.get_content()
    assert mails_to(folder_of_mails, quiet.email, 0) == []
