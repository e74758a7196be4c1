"""Accounts and organizations that are switched off, and bots with fewer rights."""

import pytest

from tests.harness.server import Server
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_error, unique

INCOMING_WEBHOOK = 2


def test_a_deactivated_account_is_refused_everywhere(stage: Stage) -> None:
    speaker = stage.speaker()
    with speaker.register() as queue:
        stage.sql("update account set is_active = false where id = %s", speaker.id)
        reply = speaker.request("GET", "users/me")
        check_error(reply, "UNAUTHORIZED", 401)
        assert reply.headers["www-authenticate"].startswith("Basic ")
        check_error(queue.request(), "UNAUTHORIZED", 401)


def test_a_deactivated_account_is_told_so_when_it_logs_in(stage: Stage, server: Server) -> None:
    user = server.members[2]
    try:
        stage.sql("update account set is_active = false where id = %s", user.user_id)
        for password in (user.password, "wrong"):
            reply = stage.speaker().request("POST", "fetch_api_key", username=user.email, password=password)
            check_error(reply, "USER_DEACTIVATED", 401)
            assert "www-authenticate" not in reply.headers
    finally:
        stage.sql("update account set is_active = true where id = %s", user.user_id)


@pytest.fixture
def elsewhere(stage: Stage) -> Speaker:
    realm_id, subdomain = stage.realm()
    return stage.speaker(stage.user(realm_id=realm_id), host=f"{subdomain}.localhost")


def test_a_deactivated_organization_is_refused(stage: Stage, elsewhere: Speaker) -> None:
    statement = "update realm set is_active = false where id = (select realm_id from account where id = %s)"
    stage.sql(statement, elsewhere.id)
    check_error(elsewhere.request("GET", "users/me"), "UNAUTHORIZED", 401)
    login = elsewhere.request("POST", "fetch_api_key", username=elsewhere.email, password="x")
    check_error(login, "REALM_DEACTIVATED", 401)


def test_an_organization_without_password_login_says_so(stage: Stage, elsewhere: Speaker) -> None:
    where = "where id = (select realm_id from account where id = %s)"
    stage.sql(f"""update realm set settings = '{{"password_auth_enabled": false}}' {where}""", elsewhere.id)
    login = elsewhere.request("POST", "fetch_api_key", username=elsewhere.email, password="x")
    check_error(login, "PASSWORD_AUTH_DISABLED", 401)
    settings = elsewhere.get("server_settings")
    assert settings["email_auth_enabled"] is settings["authentication_methods"]["password"] is False


def test_the_realms_own_name_of_the_empty_topic_is_used_everywhere(stage: Stage, elsewhere: Speaker) -> None:
    where = "where id = (select realm_id from account where id = %s)"
    stage.sql(f"""update realm set settings = '{{"empty_topic_display_name": "plaza"}}' {where}""", elsewhere.id)
    name = unique("named")
    elsewhere.post("users/me/subscriptions", subscriptions=[{"name": name}])
    with elsewhere.register(fetch_event_types=["realm"]) as queue:
        assert queue.state["realm_empty_topic_display_name"] == "plaza"
        sent = elsewhere.send(name, "Plaza".lower())
        assert queue.message_event(sent)["message"]["subject"] == "plaza"
    assert elsewhere.message(sent)["subject"] == "plaza"
    assert elsewhere.message(sent, allow_empty_topic_name=True)["subject"] == ""
    other = elsewhere.send(name, "general chat")
    assert elsewhere.message(other, allow_empty_topic_name=True)["subject"] == "general chat"


def test_an_incoming_webhook_bot_may_send_and_nothing_else(stage: Stage) -> None:
    bot = stage.speaker(stage.user(bot_type=INCOMING_WEBHOOK))
    channel = stage.channel(bot)
    bot.send(channel.stream_id, "topic")
    bot.send([bot.id])
    for method, path in (("GET", "users/me"), ("GET", "messages"), ("POST", "register"), ("GET", "events")):
        reply = bot.request(method, path)
        check_error(reply, "UNAUTHORIZED", 401)
        assert reply.headers["www-authenticate"].startswith("Basic ")


def test_a_key_is_stored_as_a_digest_only(stage: Stage) -> None:
    speaker = stage.speaker()
    [row] = stage.sql("select api_key::text from api_key where user_id = %s", speaker.id)
    assert speaker.user.api_key not in row[0]
    assert speaker.user.api_key.encode().hex() not in row[0]
