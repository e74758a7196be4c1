"""Settings of OpenID Connect providers: from the environment, from a file, and what is refused."""

import json
from pathlib import Path

import pytest

from tertulia.kernel.settings import SettingsError, load_settings

GOOD = {
    "name": "example",
    "display_name": "Example",
    "issuer": "https://accounts.example.org",
    "client_id": "tertulia",
    "client_secret": "not much of a secret",
}


def test_providers_are_the_same_from_the_environment_from_a_file_and_for_a_child_process(tmp_path: Path) -> None:
    file = tmp_path / "tertulia.toml"
    file.write_text("[[oidc_providers]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in GOOD.items()))
    from_file = load_settings(file, env={})
    from_environment = load_settings(env={"TERTULIA_OIDC_PROVIDERS": json.dumps([GOOD])})
    assert from_file == from_environment == load_settings(env=from_file.environment())
    [provider] = from_file.oidc_providers
    assert (provider.name, provider.scopes, provider.realms) == ("example", "openid email profile", ("",))
    assert load_settings(env={"TERTULIA_OIDC_PROVIDERS": ""}).oidc_providers == ()


WRONG = [
    "not JSON",
    json.dumps([GOOD, GOOD]),
    *(
        json.dumps([GOOD | change])
        for change in (
            {"name": "Ex/ample"},
            {"name": ""},
            {"issuer": "http://accounts.example.org"},
            {"issuer": "https://"},
            {"display_icon": "https://accounts.example.org/icon.png"},
            {"display_icon": "//accounts.example.org/icon.png"},
            {"display_icon": "/\\accounts.example.org/icon.png"},
            {"client_id": ""},
            {"client_secret": "short"},
            {"scopes": "email"},
            {"unheard": "of"},
        )
    ),
]


@pytest.mark.parametrize("text", WRONG)
def test_a_provider_that_cannot_be_used_stops_the_start(text: str) -> None:
    with pytest.raises(SettingsError):
        load_settings(env={"TERTULIA_OIDC_PROVIDERS": text})
