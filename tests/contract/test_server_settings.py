"""GET /server_settings (protocol/people.md#server-settings)."""

import pytest

from tests.harness.files import fetch
from tests.harness.server import Server
from tests.harness.talk import Queue, Speaker, check_success

METHODS = {
    *("password", "dev", "email", "ldap", "remoteuser", "github", "azuread", "gitlab", "apple", "google", "saml"),
    "openid connect",
}
TYPES = {
    "authentication_methods": dict,
    "external_authentication_methods": list,
    "service_feature_level": int,
    "service_version": str,
    "service_merge_base": str,
    "push_notifications_enabled": bool,
    "is_incompatible": bool,
    "email_auth_enabled": bool,
    "require_email_format_usernames": bool,
    "realm_url": str,
    "realm_uri": str,
    "realm_name": str,
    "realm_icon": str,
    "realm_description": str,
    "realm_web_public_access_enabled": bool,
}


@pytest.mark.holds(
    "server-settings.open",
    "server-settings.level",
    "server-settings.version",
    "server-settings.merge-base",
    "server-settings.push",
    "server-settings.incompatible",
    "server-settings.email-auth",
    "server-settings.email-format",
    "server-settings.realm-url",
    "server-settings.realm-uri",
    "server-settings.realm-name",
    "server-settings.realm-icon",
    "server-settings.realm-description",
    "server-settings.web-public",
)
def test_every_field_of_the_protocol_is_there_with_its_type(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert {name: type(settings[name]) for name in TYPES} == TYPES


@pytest.mark.holds("server-settings.authentication-methods", "versioning.deprecated-auth-methods")
def test_every_way_to_log_in_is_said_to_be_on_or_off(nobody: Speaker) -> None:
    methods = nobody.get("server_settings")["authentication_methods"]
    assert methods.keys() >= METHODS
    assert all(isinstance(is_on, bool) for is_on in methods.values())


@pytest.mark.holds(
    "server-settings.email-auth", "server-settings.authentication-methods", "server-settings.email-format"
)
def test_a_server_that_takes_passwords_says_so(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert settings["email_auth_enabled"] is settings["authentication_methods"]["password"] is True
    assert settings["require_email_format_usernames"] is True


@pytest.mark.holds("server-settings.external-methods")
def test_external_ways_to_log_in_are_fully_described(nobody: Speaker) -> None:
    """Where there are any: those of a server with providers are in tests/features/people/test_oidc.py."""
    for method in nobody.get("server_settings")["external_authentication_methods"]:
        assert all(isinstance(method[key], str) for key in ("name", "display_name", "login_url", "signup_url"))
        assert isinstance(method["display_icon"], str | None)


@pytest.mark.holds("server-settings.version", "server-settings.merge-base", "server-settings.level")
def test_the_service_says_its_version_and_what_it_was_made_from(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert settings["service_version"]
    assert settings["service_merge_base"] in ("", settings["service_version"])  # this is no fork


@pytest.mark.holds("server-settings.realm-url", "server-settings.realm-uri", "versioning.deprecated-realm-uri")
def test_the_address_is_canonical_and_has_an_older_name(nobody: Speaker, server: Server) -> None:
    settings = nobody.get("server_settings")
    assert settings["realm_url"] == settings["realm_uri"] == server.url
    assert not settings["realm_url"].endswith("/")


@pytest.mark.holds("server-settings.realm-icon")
def test_the_icon_is_a_picture_that_anybody_can_fetch(nobody: Speaker) -> None:
    reply = fetch(nobody, nobody.get("server_settings")["realm_icon"])
    assert (reply.status_code, reply.headers["content-type"].startswith("image/")) == (200, True)


@pytest.mark.holds("server-settings.realm-description")
def test_the_description_is_html(nobody: Speaker, owner: Speaker) -> None:
    with Queue(owner, event_types=[], fetch_event_types=["realm"]) as queue:
        before = queue.state["realm_description"]
    check_success(owner.request("PATCH", "realm", description="a < b"))
    try:
        assert nobody.get("server_settings")["realm_description"] == "<p>a &lt; b</p>"
    finally:
        check_success(owner.request("PATCH", "realm", description=before))


@pytest.mark.holds("server-settings.older-names")
def test_older_names_of_the_version_are_sent_too(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    for word in ("version", "feature_level", "merge_base"):
        assert settings[f"zulip_{word}"] == settings[f"service_{word}"]


@pytest.mark.holds("server-settings.open", "authentication.open-server-settings")
def test_wrong_credentials_do_not_matter(nobody: Speaker) -> None:
    check_success(nobody.http.get("server_settings", auth=("nobody@nowhere.example", "k" * 32)))
    check_success(nobody.http.get("server_settings", headers={"Authorization": "Bearer x"}))


@pytest.mark.holds("conventions.head")
def test_head_answers_too(nobody: Speaker) -> None:
    assert nobody.request("HEAD", "server_settings").status_code == 200
