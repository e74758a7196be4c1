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

import msgspec

from tertulia.kernel.engine_addresses import checked_postgres_url, hosts_of, is_on_this_machine, nats_servers
from tertulia.kernel.login_settings import Membership, OidcProvider
from tertulia.kernel.login_settings import SettingsError as SettingsError
from tertulia.kernel.urls import is_call_server, split_url

PREFIX = "TERTULIA_"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything an operator may set. Defaults suit one small machine."""

    # Engines
    postgres_url: str = "postgresql://tertulia@127.0.0.1:5432/tertulia"
    """With `sslmode` and `sslrootcert` as PostgreSQL's own programs take them. Without `sslmode`, a server on another machine
    must show a certificate that `sslrootcert` (or `~/.postgresql/root.crt`) vouches for: `verify-full`. Several hosts have
    commas between them (`postgresql://tertulia@a:5432,b:5432/tertulia?target_session_attrs=primary`): the first that
    answers, and is what is asked for, is taken."""
    nats_url: str = "nats://127.0.0.1:4222"
    """`tls://` on another machine; several servers of a cluster with commas between them."""
    nats_ca_file: str = ""
    """Certificates to trust for NATS; empty: the system's."""
    nats_cert_file: str = ""
    """Our own certificate, if NATS asks for one, and its key."""
    nats_key_file: str = ""
    nats_plaintext: bool = False
    """Whether a NATS on another machine may be reached by `nats://`, without TLS: on a network that is protected otherwise."""
    nats_monitor_url: str = ""
    """Where NATS tells of itself (`http` in its configuration), for `tertulia doctor`; empty: port 8222 of its hosts."""
    postgres_bin: str = ""
    """Folder of the PostgreSQL programs, for `tertulia dev`, backups and `tertulia serve --standalone`; `wheel`: those of the
    extra `standalone`; empty: look in the usual places."""
    nats_server: str = ""
    """The nats-server program, for `tertulia dev` and `tertulia serve --standalone`; `wheel`: the one of the extra `standalone`;
    empty: look in PATH, then beside Python."""
    standalone_folder: str = ""
    """Where `tertulia serve --standalone` keeps the data of PostgreSQL and NATS, which it runs itself, and its backups."""
    pool_size: int = 10
    """PostgreSQL connections of one web process, besides those of the send lanes."""
    nats_replicas: int = 1
    """Copies of each stream in a NATS cluster: 1, 3 or 5."""

    # Limits of waiting for PostgreSQL
    postgres_connect_seconds: float = 2.0
    """For opening a connection, at each host of `postgres_url`."""
    postgres_pool_seconds: float = 2.0
    """How long a request waits for a free connection, besides what opening one takes; then it is answered 503."""
    postgres_statement_seconds: float = 20.0
    """For each statement of a web process, and for storing a message, with all tries; then 503."""
    postgres_narrow_seconds: float = 5.0
    """For each statement that looks for messages by a narrow, the dearest that people can put together; then 503."""
    postgres_work_seconds: float = 60.0
    """For each statement of the worker."""
    postgres_lock_seconds: float = 5.0
    """How long a request waits for a lock that somebody else holds; then it is answered 503."""
    postgres_idle_transaction_seconds: float = 15.0
    """PostgreSQL ends a transaction whose web process is silent for so long, stopped or cut off, and frees its locks."""
    postgres_silence_seconds: float = 6.0
    """A connection whose other end gives no sign of life (TCP) for so long is given up."""

    # HTTP
    host: str = "127.0.0.1"
    port: int = 9991
    external_host: str = "localhost"
    """The organization with the empty subdomain lives here, others at `<subdomain>.<external_host>`."""
    external_scheme: Literal["http", "https"] = "http"
    hsts: str = "max-age=31536000"
    """`Strict-Transport-Security` of every answer if `external_scheme` is https: browsers come with TLS only, for a year after
    their last visit. Add `; includeSubDomains` if all hosts below `external_host` have TLS. Empty: not sent."""
    trusted_proxies: str = "127.0.0.1, ::1"
    """Addresses and networks of the proxies in front, such as `10.1.0.5, 10.2.0.0/24`: whom `X-Forwarded-For` and
    `X-Forwarded-Proto` are believed of. Empty: nobody."""
    fake_email_domain: str = "tertulia.invalid"
    """Where hidden email addresses seem to be, if `external_host` is no name that could be part of an address."""
    web_public_streams_enabled: bool = False
    """Whether organizations may have channels that everybody on the web reads (each must allow it as well)."""
    max_body_bytes: int = 2 * 1024 * 1024
    """Of the parameters in a body: reading them takes the web process a moment in which it answers nobody else. Files, pictures
    and what other services post have limits of their own."""
    max_anonymous_body_bytes: int = 256 * 1024
    """The same, of a call without credentials."""
    max_header_bytes: int = 64 * 1024
    """Of all headers of a request together; the address may have 256 KiB besides."""
    max_headers: int = 200
    """Of one request."""
    header_seconds: float = 30.0
    """How long a request may take until its headers are complete, and a new connection until it sends one."""
    keep_alive_seconds: float = 120.0
    """How long a connection may rest between two requests. Longer than a poll waits, so that polling clients keep theirs."""
    stall_seconds: float = 60.0
    """In each stretch of so many seconds, a body that arrives and an answer that is read must move on."""
    min_bytes_per_second: int = 500
    """How fast they must move, on average over `stall_seconds`."""
    answer_seconds: float = 300.0
    """How long an answer may lie in memory until it is read: a large one must be read faster. Files count by pieces of 2 MiB."""
    max_unsent_bytes: int = 256 * 1024 * 1024
    """Of answers that lie in the memory of one web process; over it, whoever holds the most of them is cut off."""
    max_arriving_bytes: int = 256 * 1024 * 1024
    """Of bodies that lie in the memory of one web process until they are complete and answered. One person, or one network
    without an account, may have the eighth part; whoever sends more is told to try again. When all together have so many, so is
    whoever has more than an equal part of them."""
    max_connections: int = 20_000
    """Of one web process, if it may open as many files; whoever comes then is told to try again."""
    max_network_connections: int = 1000
    """Of them, those of one network (an IPv4 address, or a /64 of IPv6). Behind a trusted proxy its requests under way count
    instead, waiting for events among them, if the proxy says for whom it asks. A company behind one address may need more; 0 is
    any number."""
    busy_seconds: float = 0.5
    """While a quarter of all requests takes longer than this, a web process lets fewer in, and answers 503 to the others; 0: all
    are let in. Polls, files and pages do not count."""
    drain_seconds: float = 10.0
    """How long a stopping web process waits for requests under way."""

    # Rate limits, written as calls/seconds
    rate_limits: bool = True
    """Off is for load tests only."""
    user_rate: str = "200/60"
    """For each person and each bot."""
    bots_rate: str = "1000/60"
    """For all bots of one person together."""
    requests_at_once: int = 6
    """Of one person with all their bots; what comes then waits for its turn. Waiting for events does not count."""
    files_at_once: int = 30
    """Requests of one person for files, and uploads, that are under way; what comes then waits for its turn."""
    file_rate: str = "6000/60"
    """For reading files and avatars, and for parts of uploads, by one person with all their bots, in each web process."""
    address_rate: str = "100/60"
    """For requests without valid credentials."""
    mail_rate: str = "2/3600, 5/86400"
    """For mails to one address that people ask for without being logged in: to join an organization, or for a new password."""
    realm_mail_rate: str = "1000/86400"
    """For all such mails of one organization."""
    client_mail_rate: str = "100/3600"
    """For all such mails that are asked for from one network address; a whole team may sit behind it."""
    redis_url: str = ""
    """Keeps the budgets in Redis, exact across nodes; empty: in each process. Needs the extra `redis`."""

    # Bounds
    bounds: str = ""
    """Other bounds than those of the page on limits, by their names: `drafts=2000, groups=10000`."""

    # Logins
    login_failures: str = "5/1800"
    """So many wrong passwords for one user name from one network in so many seconds; on also when rate limits are off."""
    login_failures_everywhere: str = "100/86400"
    """So many from all networks together. It does not concern networks and browsers that the person has logged in from."""
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
    ldap_shares_people: bool = False
    """The directory knows the same people as the providers of OpenID Connect: its addresses open accounts that one of those
    vouches for already."""
    ldap_sync_minutes: int = 0
    """How often the worker compares accounts with the directory, and deactivates who has left; 0: never."""
    ldap_people_filter: str = "(objectClass=person)"
    """Which entries below `ldap_search_base` are people, for the comparison."""
    ldap_disabled_filter: str = ""
    """Which of them have left all the same, such as `(userAccountControl:1.2.840.113556.1.4.803:=2)`; empty: none. They do not
    log in either."""
    ldap_max_leavers_percent: int = 10
    """If more of the people from the directory than that would be deactivated at once, and more than three, nobody is."""
    ldap_memberships: tuple[Membership, ...] = ()
    """What groups of the directory are worth here. In the environment a JSON array; in the file tables `[[ldap_memberships]]`
    with the key `where` (the name of a group's entry, or in parentheses a filter about people), and `group` (the name of a user
    group) or `role` (`administrator`, `moderator`, `member`, `guest`)."""
    oidc_providers: tuple[OidcProvider, ...] = ()
    """In the environment a JSON array; in the file tables `[[oidc_providers]]` with the keys `name`, `display_name`,
    `issuer`, `client_id`, `client_secret`, and if need be `scopes`, `realms` (subdomains, by default the main
    organization), `shares_people` (`true`: it may also speak for accounts that the directory or another provider vouches for),
    `display_icon`, `groups_claim` and `memberships`. Needs the extra `oidc`."""
    oidc_second_factor_trusted: bool = True
    """Whether providers are trusted to ask for a second factor of their own; if not, ours is asked for after them."""
    password_words: str = ""
    """Words that passwords may not be made of, besides the names of the organization and the person, with commas between
    them: products, projects, places."""
    password_memory_mib: int = 64
    """What hashing a password takes while it lasts, by argon2id in 3 passes. The more, the dearer is a guess for whoever has
    stolen the database, and a log-in for the server. Passwords hashed at another cost are hashed anew by the next log-in."""
    session_idle_seconds: int = 14 * 86400
    """A browser's session ends so long after its last use, which is noted once an hour."""
    session_max_seconds: int = 30 * 86400
    """A browser's session ends so long after the login, however much it is used."""
    api_key_idle_days: int = 0
    """An API key that nobody used for so many days ends; 0: never."""
    app_key_max_days: int = 0
    """An API key that an app got with a password or at a provider ends so many days after that; 0: never. Keys that people
    made for programs, and those of bots, stay."""
    app_scheme: str = "tertulia"
    """Our apps on phones are called at this kind of address when somebody has logged in for them with a browser."""

    # Secrets in the database
    sealing_keys: str = ""
    """Keys that seal secrets which must be read back, with commas between them: the first seals, all open."""
    sealing_key_file: str = ""
    """A file with such keys, one on each line; those of `sealing_keys` come before."""

    # Files
    storage_folder: str = "/var/lib/tertulia/files"
    """Where uploaded files are kept, unless `s3_bucket` is set; all web and worker processes must see the same folder."""
    max_file_upload_size_mib: int = 100
    """Of one file."""
    upload_quota_mib: int = 10 * 1024
    """How much each organization may upload in all; 0: as much as it likes."""
    upload_share_percent: int = 10
    """How much of that one person may use, with their bots; administrators may use all of it."""
    unused_upload_days: int = 30
    """A file that no message links is deleted after so many days."""
    malware_scanner: str = ""
    """Where clamd listens: `host:3310` or `unix:/run/clamav/clamd.ctl`; uploads and pictures pass it. Empty: none."""
    malware_scanner_away: Literal["refuse", "accept"] = "refuse"
    """What becomes of files while the scanner does not answer."""
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
    s3_seconds: float = 30.0
    """For each request to the bucket, which moves 5 MiB at most; then whoever wants a file is answered 503."""
    s3_virtual_hosts: bool = False
    """Whether the bucket is part of the host's name, and not of the path."""

    # Backups
    backup_place: str = ""
    """Where `tertulia backup make` puts archives unless it is told: a folder, or `s3://bucket/prefix`."""
    nightly_backup: str = "02:30"
    """When `tertulia serve --standalone` makes a backup each day, by the machine's clock; empty: never. It goes to
    `backup_place`, or to `backups` in `standalone_folder` if that is not set, and is encrypted if there are
    `backup_recipients`."""
    nightly_backup_days: int = 7
    """Of so many days the newest such backup is kept,"""
    nightly_backup_weeks: int = 5
    """and of so many weeks."""
    backup_recipients: str = ""
    """Public keys that backups are encrypted for, with commas between them; `tertulia backup new-key` makes one."""
    backup_s3_endpoint: str = ""
    """Address of the service that a bucket for backups is at; empty: `s3_endpoint`."""
    backup_s3_region: str = ""
    """Empty: `s3_region`."""
    backup_s3_access_key_id: str = ""
    """Empty: the key for files."""
    backup_s3_secret_access_key: str = ""

    # Mail
    smtp_url: str = ""
    """`smtp://user:password@host:587?starttls` or `smtps://user:password@host`; empty: see `mail_folder`."""
    mail_from: str = ""
    """Sender of our mails; empty: noreply@ and the host."""
    mail_folder: str = ""
    """Without `smtp_url`, mails are written to this folder."""
    invitation_mails: int = 1000
    """So many mails of invitations an organization may have sent on a day (UTC)."""

    # Mail that comes in: `tertulia mail`
    mail_in_address: str = ""
    """Where mail comes in, with `%s` for what tells addresses apart, such as `reply+%s@chat.example.com`: then mails about
    missed messages can be answered, and channels may have addresses. Empty: no mail is taken in."""
    mail_in_host: str = "127.0.0.1"
    """Where `tertulia mail` listens for the mail server, by LMTP or SMTP, without TLS: never where the public reaches it."""
    mail_in_port: int = 2525
    mail_in_max_mib: int = 25
    """Of one mail, with what is enclosed as it is encoded there."""
    mail_in_connections: int = 10
    """Of the mail server, at once: each may have one mail in memory."""
    mail_in_rate: str = "30/60, 300/3600"
    """For messages that come by mail as one person or bot, in each process; the mail server tries again later."""

    # Video calls
    jitsi_server_url: str = ""
    """A Jitsi server for calls, such as `https://meet.example.com`; empty: no calls, but where an organization names its own.
    Who may open rooms there is that server's own rule."""

    # Calls to other servers
    outgoing_networks: str = ""
    """Networks besides the public internet that bots' webhooks may be in, such as `10.1.0.0/16, 127.0.0.1/32`."""
    picture_networks: str = ""
    """Networks besides the public internet that pictures and previews in messages are fetched from, written like
    `outgoing_networks`. Whoever may send a message makes the worker ask for addresses in them."""
    link_previews: bool = True
    """Whether organizations may switch on previews of links (`inline_url_embed_preview`), for which the worker asks other
    servers for the pages that messages link."""
    preview_blocked_hosts: str = ""
    """Hosts, with all below them, that pictures and previews in messages are never fetched from: `ads.example, 192.0.2.7`."""
    remote_pictures_mib: int = 1024
    """How much pictures from elsewhere may take in each organization; of whoever has named most the first are removed."""

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

    # Memory
    user_lists_mib: int = 128
    """How much each web process remembers of the lists of users that it answers with; those of organizations that nobody
    asked for lately go first."""

    # Operation
    log_format: Literal["json", "console"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_requests: bool = True
    """A line for each request, at the level `info`: who, what, the answer's status, how long, and how much of that the database
    took. It holds numbers of accounts and organizations, and neither texts nor addresses."""
    traces_url: str = ""
    """Where a collector takes traces, as OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`; empty: none are made. Needs
    the extra `traces`."""
    traces_share: float = 1.0
    """Of what succeeds, so much is told in traces: 0.01 is one request in a hundred. What fails is always told."""
    metrics_host: str = "127.0.0.1"
    """Address that /metrics and /health answer at: never one that the public reaches."""
    metrics_port: int = 0
    """Port of /metrics and /health of this process; 0: none. `tertulia serve` gives this one to the relay, the next to the
    worker, the one after that to the web process, and one more to `tertulia mail`."""
    worker_pause_seconds: float = 1.0
    """How long the worker pauses at most between two looks at what somebody waits for: mails, pushes, scheduled messages and the
    like. Each look is a small question to the database; most of them come at least every half second in any case."""
    development: bool = False
    compat_aliases: bool = True
    """Send the older names of keys beside ours, for existing clients."""

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise SettingsError("shards must be at least 1")
        msgspec.structs.force_setattr(self, "postgres_url", checked_postgres_url(self.postgres_url))
        _check_nats(self)
        for name in (
            "header_seconds",
            "keep_alive_seconds",
            "stall_seconds",
            "answer_seconds",
            "max_connections",
            "max_headers",
            "password_memory_mib",
            "postgres_connect_seconds",
            "postgres_pool_seconds",
            "postgres_statement_seconds",
            "postgres_narrow_seconds",
            "postgres_work_seconds",
            "postgres_lock_seconds",
            "postgres_idle_transaction_seconds",
            "postgres_silence_seconds",
            "s3_seconds",
            "worker_pause_seconds",
        ):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{name} must be more than 0")
        if not re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?", self.external_host):
            raise SettingsError(
                f"external_host is {self.external_host!r}: write a name such as chat.example.com, without https:// and without /"
            )
        if self.jitsi_server_url and not is_call_server(self.jitsi_server_url):
            raise SettingsError("jitsi_server_url must look like https://meet.example.com")
        _check_shares(self)
        if not re.fullmatch(r"(?:max-age=[0-9]+(?:; ?includeSubDomains)?(?:; ?preload)?)?", self.hsts):
            raise SettingsError("hsts must be such as `max-age=31536000; includeSubDomains`, or empty")
        if len({provider.name for provider in self.oidc_providers}) < len(self.oidc_providers):
            raise SettingsError("two of oidc_providers have the same name")
        if not 7200 <= self.session_idle_seconds <= self.session_max_seconds:
            raise SettingsError("session_idle_seconds must be at least 7200, and no more than session_max_seconds")
        if self.ldap_sync_minutes < 0 or not 0 <= self.ldap_max_leavers_percent <= 100:
            raise SettingsError("ldap_sync_minutes must not be negative, and ldap_max_leavers_percent be from 0 to 100")
        if not re.fullmatch(r"(?:([01][0-9]|2[0-3]):[0-5][0-9])?", self.nightly_backup):
            raise SettingsError("nightly_backup must be a time such as 02:30, or empty")
        _check_mail_in(self)
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
            values[name] = _decode(name, text) if name in ("oidc_providers", "ldap_memberships") else text
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {file} is not TOML: {error}") from error


def _check_shares(settings: Settings) -> None:
    if not 1 <= settings.upload_share_percent <= 100:
        raise SettingsError("upload_share_percent must be between 1 and 100")
    for name in ("requests_at_once", "files_at_once", "max_network_connections", "max_arriving_bytes", "busy_seconds"):
        if getattr(settings, name) < 0:
            raise SettingsError(f"{name} must not be negative; 0 is any number")


def _check_mail_in(settings: Settings) -> None:
    pattern = r"(?:[A-Za-z0-9._+=-]{0,30}%s[A-Za-z0-9._+=-]{0,8}@[A-Za-z0-9.-]{1,180})?"
    if not re.fullmatch(pattern, settings.mail_in_address):
        raise SettingsError("mail_in_address must look like reply+%s@chat.example.com")
    if not (settings.mail_in_max_mib > 0 and settings.mail_in_connections > 0):
        raise SettingsError("mail_in_max_mib and mail_in_connections must be more than 0")


def _check_nats(settings: Settings) -> None:
    servers = nats_servers(settings.nats_url)
    if not servers:
        raise SettingsError("nats_url must begin with nats:// or tls://")
    for url in servers:
        scheme = split_url(url).scheme
        if scheme not in ("nats", "tls"):
            raise SettingsError("nats_url must begin with nats:// or tls://")
        is_local = all(is_on_this_machine(host) for host in hosts_of(url))
        if scheme == "nats" and not is_local and not settings.nats_plaintext:
            raise SettingsError(
                "nats_url leads to another machine without TLS: write tls://, or set nats_plaintext if the network is safe"
            )


def _decode(name: str, text: str) -> object:
    try:
        return msgspec.json.decode(text) if text.strip() else []
    except msgspec.DecodeError as error:
        raise SettingsError(f"{PREFIX}{name.upper()} is not JSON: {error}") from error


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return msgspec.json.encode(value).decode()
    return str(value).lower() if isinstance(value, bool) else str(value)
