"""Users made by hand."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.browser import Browser
from tests.harness.command import said_once, tertulia
from tests.harness.mails import mailed
from tests.harness.realm import Realm
from tests.harness.server import OWNER, User
from tests.harness.stage import Stage
from tests.harness.talk import unique

PASSWORD = "seven copper kettles sing"


def environment(realm: Realm, password: str) -> dict[str, str]:
    return {"TERTULIA_POSTGRES_URL": realm.stage.server.postgres_url, "TERTULIA_USER_PASSWORD": password}


@pytest.mark.parametrize("password", ["", "password1", "somebody new"])
def test_no_command_gives_anybody_a_password_that_the_server_would_refuse(realm: Realm, password: str) -> None:
    """The last one is the name that both of them have."""
    email, where = unique("owner").replace(" ", ".") + "@example.com", ("--realm", realm.subdomain)
    names, env = ("--name", "Somebody New", "--role", "owner"), environment(realm, password)
    assert "password" in said_once(tertulia("user", "create", email, *names, *where, env=env))
    assert realm.stage.sql("select from account where email = %s", email) == []
    assert "password" in said_once(tertulia("user", "reset-password", realm.member.email, *where, env=env))


def test_a_good_password_opens_the_account_that_a_command_made(realm: Realm) -> None:
    email = unique("owner").replace(" ", ".") + "@example.com"
    made = tertulia(
        "user", "create", email, "--name", "Ada", "--realm", realm.subdomain, env=environment(realm, PASSWORD)
    )
    key = realm.stage.nobody(host=realm.host).post("fetch_api_key", username=email, password=PASSWORD)
    assert key["user_id"] == int(made.stdout)


def test_a_new_organization_has_a_channel_that_its_owner_and_everybody_invited_land_in(
    stage: Stage, folder_of_mails: Path
) -> None:
    subdomain, owner, guest = (
        unique("team").replace(" ", "-"),
        "ines@example.com",
        unique("new").replace(" ", ".") + "@example.com",
    )
    env = {"TERTULIA_POSTGRES_URL": stage.server.postgres_url, "TERTULIA_USER_PASSWORD": PASSWORD}
    assert tertulia("realm", "create", "Our Team", "--subdomain", subdomain, env=env).returncode == 0
    made = tertulia("user", "create", owner, "--name", "Inés", "--role", "owner", "--realm", subdomain, env=env)
    host = f"{subdomain}.localhost"
    key = stage.nobody(host=host).post("fetch_api_key", username=owner, password=PASSWORD)["api_key"]
    ines = stage.speaker(User(int(made.stdout), owner, PASSWORD, key, OWNER), host=host)
    [channel] = ines.get("users/me/subscriptions")["subscriptions"]
    assert (channel["name"], channel["invite_only"]) == ("general", False)
    offer = {"stream_ids": [], "include_realm_default_subscriptions": True}  # as the web client asks
    invited = ines.post("invites/multiuse", **offer)["invite_link"].rpartition("/")[2]
    stage.nobody(host=host).post("signups", email=guest, key=invited)
    [key] = mailed(folder_of_mails, guest, r"/join/(\S+)")
    with closing(Browser(stage.server.url).http) as http:
        http.headers["host"] = host
        joined = http.post(f"signups/{key}", data={"full_name": "Nora New", "password": PASSWORD})
        assert joined.status_code == 200
        reply = http.get("users/me/subscriptions").json()
    assert [each["name"] for each in reply["subscriptions"]] == ["general"]
