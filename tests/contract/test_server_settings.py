"""GET /server_settings (specification 4.20, decisions 1 and 14)."""

import httpx

from tests.contract.talk import success
from tests.server import Server

METHODS = {
    *("password", "dev", "email", "ldap", "remoteuser", "github", "azuread"),
    *("gitlab", "apple", "google", "saml", "openid connect"),
}
BOOLEANS = {
    *("push_notifications_enabled", "is_incompatible", "email_auth_enabled"),
    *("require_email_format_usernames", "realm_web_public_access_enabled"),
}
TEXTS = {
    *("service_version", "service_merge_base", "realm_url", "realm_uri", "realm_name", "realm_icon"),
    "realm_description",
}


def test_every_field_of_the_specification_is_there_with_its_type(nobody: httpx.Client) -> None:
    settings = success(nobody.get("server_settings"))
    assert {key for key in BOOLEANS if isinstance(settings.get(key), bool)} == BOOLEANS
    assert {key for key in TEXTS if isinstance(settings.get(key), str)} == TEXTS
    assert set(settings["authentication_methods"]) >= METHODS
    assert all(isinstance(value, bool) for value in settings["authentication_methods"].values())
    assert settings["external_authentication_methods"] == []
    assert settings["service_feature_level"] == 421


def test_it_tells_the_organization_of_the_host(nobody: httpx.Client, server: Server) -> None:
    settings = success(nobody.get("server_settings"))
    assert settings["realm_name"] == "Café Tertulia"
    assert settings["realm_url"] == server.url.rstrip("/")
    assert settings["realm_url"] == settings["realm_uri"]
    assert not settings["realm_url"].endswith("/")


def test_logging_in_with_a_password_is_possible_and_said(nobody: httpx.Client) -> None:
    settings = success(nobody.get("server_settings"))
    assert settings["authentication_methods"]["password"] is True
    assert settings["email_auth_enabled"] is True
    assert settings["require_email_format_usernames"] is True


def test_older_names_are_sent_beside_ours(nobody: httpx.Client) -> None:
    settings = success(nobody.get("server_settings"))
    assert settings["zulip_feature_level"] == settings["service_feature_level"]
    assert settings["zulip_version"] == settings["service_version"]
    assert settings["zulip_merge_base"] == settings["service_merge_base"]


def test_credentials_make_no_difference(nobody: httpx.Client, kofi: httpx.Client) -> None:
    assert kofi.get("server_settings").json() == nobody.get("server_settings").json()
