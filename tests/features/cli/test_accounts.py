"""Users made by hand."""

import pytest

from tests.harness.command import said_once, tertulia
from tests.harness.realm import Realm
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
