"""Settings: typed, read once at start, from the environment and an optional TOML file.

A field `postgres_url` is the environment variable `TERTULIA_POSTGRES_URL` and the key `postgres_url` of the file
named by `TERTULIA_CONFIG` (or `--config`). The environment wins over the file, the file over the default.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

PREFIX = "TERTULIA_"


class SettingsError(ValueError):
    """A setting that cannot be used; the text says which one and why."""


class OidcProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An OpenID Connect provider that people log in with. Our address there: `/accounts/login/oidc/<name>/callback`."""

    name: str
    """Part of addresses: small letters, digits and hyphens."""
    display_name: str
    issuer: str
    client_id: str
    client_secret: str
    scopes: str = "openid email profile"
    realms: tuple[str, ...] = ("",)
    """Subdomains of the organizations whose people it knows."""
    display_icon: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", self.name):
            raise SettingsError(
                f"{self.name!r} cannot be the name of a provider: use small letters, digits and hyphens"
            )
        if not is_safe_url(self.issuer):
            raise SettingsError(f"the issuer of {self.name} must be an https address")
        if not self.client_id or len(self.client_secret) < 8:
            raise SettingsError(f"{self.name} needs a client_id and a client_secret")
        if "openid" not in self.scopes.split():
            raise SettingsError(f"the scopes of {self.name} must include openid")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything an operator may set. Defaults suit one small machine."""

    # Engines
    postgres_url: str = "postgresql://tertulia@127.0.0.1:5432/tertulia"
    nats_url: str = "nats://127.0.0.1:4222"
    postgres_bin: str = ""
    """Folder of the PostgreSQL programs, for `tertulia dev`; empty: look in the usual places."""
    nats_server: str = ""
    """The nats-server program, for `tertulia dev`; empty: look in PATH, then beside Python."""
    pool_size: int = 10
    """PostgreSQL connections of one web process, besides those of the send lanes."""
    nats_replicas: int = 1
    """Copies of each stream in a NATS cluster: 1, 3 or 5."""

    # HTTP
    host: str = "127.0.0.1"
    port: int = 9991
    external_host: str = "localhost"
    """The organization with the empty subdomain lives here, others at `<subdomain>.<external_host>`."""
    external_scheme: Literal["http", "https"] = "http"
    fake_email_domain: str = "tertulia.invalid"
    """Where hidden email addresses seem to be, if `external_host` is no name that could be part of an address."""
    web_public_streams_enabled: bool = False
    """Whether organizations may have channels that everybody on the web reads (each must allow it as well)."""
    max_body_bytes: int = 25 * 1024 * 1024
    drain_seconds: float = 10.0
    """How long a stopping web process waits for requests under way."""

    # Rate limits, written as calls/seconds
    rate_limits: bool = True
    """Off is for load tests only."""
    user_rate: str = "200/60"
    address_rate: str = "100/60"
    """For requests without valid credentials."""
    mail_rate: str = "5/86400"
    """For requests that make the server send mail, per address."""
    redis_url: str = ""
    """Keeps the budgets in Redis, exact across nodes; empty: in each process. Needs the extra `redis`."""

    # Logins
    login_failures: str = "5/1800"
    """So many wrong passwords for one user name in so many seconds; on also when rate limits are off."""
    ldap_url: str = ""
    """A directory people log in with: ldap://host or ldaps://host. Needs the extra `ldap`; empty: none."""
    ldap_realm: str = ""
    """Subdomain of the organization whose people are in the directory."""
    ldap_start_tls: bool = False
    ldap_ca_file: str = ""
    """Certificates to trust for ldaps and STARTTLS; empty: the system's."""
    ldap_user_dn_template: str = ""
    """Name of a person's entry, such as `uid={username},ou=people,dc=example,dc=com`; empty: search for it."""
    ldap_search_base: str = ""
    ldap_search_filter: str = "(uid={username})"
    ldap_bind_dn: str = ""
    """Who searches; empty: anonymously."""
    ldap_bind_password: str = ""
    ldap_email_attribute: str = "mail"
    ldap_name_attribute: str = "cn"
    ldap_id_attribute: str = "entryUUID"
    """What never changes about an entry, also when the person's name or address does."""
    oidc_providers: tuple[OidcProvider, ...] = ()
    """In the environment a JSON array; in the file tables `[[oidc_providers]]` with the keys `name`, `display_name`,
    `issuer`, `client_id`, `client_secret`, and if need be `scopes`, `realms` (subdomains, by default the main
    organization) and `display_icon`. Needs the extra `oidc`."""
    app_scheme: str = "tertulia"
    """Our apps on phones are called at this kind of address when somebody has logged in for them with a browser."""

    # Files
    storage_folder: str = "/var/lib/tertulia/files"
    """Where uploaded files are kept, unless `s3_bucket` is set; all web and worker processes must see the same folder."""
    max_file_upload_size_mib: int = 100
    """Of one file."""
    upload_quota_mib: int = 0
    """How much each organization may upload in all; 0: as much as it likes."""
    unused_upload_days: int = 30
    """A file that no message links is deleted after so many days."""
    s3_bucket: str = ""
    """Keeps files in this bucket of a service that speaks S3 instead."""
    s3_endpoint: str = ""
    """Address of the service; empty: Amazon S3."""
    s3_region: str = "us-east-1"
    s3_access_key_id: str = ""
    """Empty: the role of the machine."""
    s3_secret_access_key: str = ""
    s3_prefix: str = ""
    """Put in front of every key, if others use the bucket as well."""
    s3_virtual_hosts: bool = False
    """Whether the bucket is part of the host's name, and not of the path."""

    # Mail
    smtp_url: str = ""
    """`smtp://user:password@host:587?starttls` or `smtps://user:password@host`; empty: see `mail_folder`."""
    mail_from: str = ""
    """Sender of our mails; empty: noreply@ and the host."""
    mail_folder: str = ""
    """Without `smtp_url`, mails are written to this folder."""
    invitation_mails: int = 1000
    """So many mails of invitations an organization may have sent on a day (UTC)."""

    # Calls to other servers
    outgoing_networks: str = ""
    """Networks besides the public internet that bots' webhooks may be in, such as `10.1.0.0/16, 127.0.0.1/32`."""

    # Event log
    shards: int = 4
    """Number of event streams. Fixed for the life of a cell: a realm's stream is its id modulo this number."""
    slot: str = "tertulia_events"
    publication: str = "tertulia_events"
    nats_sync_seconds: int = 10
    confirm_after_seconds: float = 25.0
    """How long an event rests in NATS before PostgreSQL may forget it; more than twice `nats_sync_seconds`."""
    event_retention_seconds: int = 8 * 86400
    audit_seconds: float = 3.0
    """How often web and relay compare what they saw with what the log holds."""

    # Event queues
    heartbeat_seconds: float = 45.0
    heartbeat_jitter_seconds: float = 10.0
    default_idle_queue_seconds: int = 600

    # Operation
    log_format: Literal["json", "console"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    metrics_port: int = 0
    """Port of /metrics and /health for relay and worker; 0: none. The web process has them on its own port."""
    development: bool = False
    compat_aliases: bool = True
    """Send the older names of keys beside ours, for existing clients."""

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise SettingsError("shards must be at least 1")
        if len({provider.name for provider in self.oidc_providers}) < len(self.oidc_providers):
            raise SettingsError("two of oidc_providers have the same name")
        if self.confirm_after_seconds <= 2 * self.nats_sync_seconds:
            raise SettingsError("confirm_after_seconds must be more than twice nats_sync_seconds: see docs/decisions")

    def url_of(self, subdomain: str) -> str:
        """The canonical address of a realm, without a trailing slash."""
        host = f"{subdomain}.{self.external_host}" if subdomain else self.external_host
        return f"{self.external_scheme}://{host}"

    def environment(self) -> dict[str, str]:
        """These settings as environment variables, for a child process."""
        return {PREFIX + name.upper(): _text(getattr(self, name)) for name in self.__struct_fields__}


def load_settings(file: Path | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Read settings from `file` (or the file `TERTULIA_CONFIG` names) and the environment."""
    env = os.environ if env is None else env
    named = env.get(PREFIX + "CONFIG")
    file = file or (Path(named) if named else None)
    values: dict[str, object] = _read_file(file) if file else {}
    for name in Settings.__struct_fields__:
        if (text := env.get(PREFIX + name.upper())) is not None:
            values[name] = _decode(name, text) if name == "oidc_providers" else text
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        where = f" (file {file}, environment {PREFIX}*)" if file else f" (environment {PREFIX}*)"
        raise SettingsError(f"{error}{where}") from error


def _read_file(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read the settings file {file}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"the settings file {file} is not TOML: {error}") from error


def is_safe_url(url: str) -> bool:
    """Whether nobody on the way can change what is answered there: https, or this very machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in ("localhost", "127.0.0.1")))


def _decode(name: str, text: str) -> object:
    try:
        return msgspec.json.decode(text) if text.strip() else []
    except msgspec.DecodeError as error:
        raise SettingsError(f"{PREFIX}{name.upper()} is not JSON: {error}") from error


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return msgspec.json.encode(value).decode()
    return str(value).lower() if isinstance(value, bool) else str(value)
