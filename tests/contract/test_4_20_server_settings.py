"""GET /server_settings (specification 4.20, contract/users.md 10, decisions 1 and 14)."""

from tests.server import Server
from tests.talk import Speaker, check_success

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


def test_every_field_of_the_specification_is_there_with_its_type(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert {name: type(settings[name]) for name in TYPES} == TYPES


def test_every_way_to_log_in_is_said_to_be_on_or_off(nobody: Speaker) -> None:
    methods = nobody.get("server_settings")["authentication_methods"]
    assert methods.keys() >= METHODS
    assert all(isinstance(is_on, bool) for is_on in methods.values())


def test_a_server_that_takes_passwords_says_so(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert settings["email_auth_enabled"] is settings["authentication_methods"]["password"] is True
    assert settings["require_email_format_usernames"] is True


def test_external_ways_to_log_in_are_fully_described(nobody: Speaker) -> None:
    """Where there are any: those of a server with providers are in tests/features/test_oidc.py."""
    for method in nobody.get("server_settings")["external_authentication_methods"]:
        assert all(isinstance(method[key], str) for key in ("name", "display_name", "login_url", "signup_url"))
        assert isinstance(method["display_icon"], str | None)


def test_the_service_says_its_version_and_what_it_was_made_from(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert settings["service_version"]
    assert settings["service_merge_base"] in ("", settings["service_version"])  # this is no fork


def test_the_address_is_canonical_and_has_an_older_name(nobody: Speaker, server: Server) -> None:
    settings = nobody.get("server_settings")
    assert settings["realm_url"] == settings["realm_uri"] == server.url
    assert not settings["realm_url"].endswith("/")


def test_older_names_of_the_version_are_sent_too(nobody: Speaker) -> None:
    settings = nobody.get("server_settings")
    for word in ("version", "feature_level", "merge_base"):
        assert settings[f"zulip_{word}"] == settings[f"service_{word}"]


def test_wrong_credentials_do_not_matter(nobody: Speaker) -> None:
    check_success(nobody.http.get("server_settings", auth=("nobody@nowhere.example", "k" * 32)))
    check_success(nobody.http.get("server_settings", headers={"Authorization": "Bearer x"}))


def test_head_answers_too(nobody: Speaker) -> None:
    assert nobody.request("HEAD", "server_settings").status_code == 200
