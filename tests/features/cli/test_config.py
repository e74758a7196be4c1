"""Settings, shown."""

import json
from pathlib import Path

from tests.harness.command import said_once, tertulia


def test_settings_are_shown_without_their_secrets(tmp_path: Path) -> None:
    file = tmp_path / "tertulia.toml"
    provider = '[[oidc_providers]]\nname = "a"\ndisplay_name = "A"\nissuer = "https://a.example"\nclient_id = "us"\n'
    file.write_text(
        'postgres_url = "postgresql://me:open sesame@127.0.0.1/chat"\nsealing_keys = "sesame"\npool_size = 7\n'
        f'ldap_bind_password = "sesame"\n{provider}client_secret = "open sesame"\n'
    )
    env = {"TERTULIA_CONFIG": str(file), "TERTULIA_SMTP_URL": "smtps://me:sesame@mail.example.com"}
    said = tertulia("config", "show", env=env).stdout
    assert "sesame" not in said
    assert "postgres_url = postgresql://me:(hidden)@127.0.0.1/chat\n" in said
    found = json.loads(tertulia("config", "show", "--json", env=env).stdout)
    assert (found["pool_size"], found["smtp_url"]) == (7, "smtps://me:(hidden)@mail.example.com")
    assert "port" not in found
    assert "sesame" not in str(found)
    assert tertulia("config", "get", "smtp_url", env=env).stdout == env["TERTULIA_SMTP_URL"] + "\n"
    assert "is no setting" in said_once(tertulia("config", "get", "smtp", env=env))
