"""The file with the settings, and the sealing keys beside it: written once, for the server's account alone."""

import grp
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tertulia.cli.errors import CommandFailed
from tertulia.cli.init.saying import say
from tertulia.cli.init.shipped import shipped
from tertulia.kernel.urls import split_url

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings

_TEXT = """\
# Written by `tertulia init`. What else can be set: docs/reference/settings.md, and `tertulia config show --all`.
postgres_url = "{postgres_url}"
nats_url = "{nats_url}"
external_host = "{host}"
external_scheme = "https"
hsts = "max-age=31536000; includeSubDomains"   # leave the second part out if a host below yours has no TLS
sealing_key_file = "{sealing_keys}"
storage_folder = "{storage}"
api_key_idle_days = 90   # keys that nobody used for so long end
app_key_max_days = 90    # and so do those that apps got by a login, so long ago
metrics_port = 9992      # of the relay; the worker has the next one, and web the one after that

# Until this is set, people are told that no mail is sent:
# smtp_url = "smtp://user:password@mail.example.com:587?starttls"
{more}"""


_OWN_NATS = "nats://tertulia:{}@127.0.0.1:4222"


class Wanted(NamedTuple):
    """What the command was given."""

    host: str
    owner: str
    postgres_url: str
    postgres_admin: str
    database: str
    nats_url: str
    more: str = ""
    """Lines of the settings besides."""


class SettingsFile:
    """`tertulia.toml` in its folder."""

    def __init__(self, folder: Path, wanted: Wanted, *, group: str | None) -> None:
        from tertulia.kernel.settings import Settings
        from tertulia.people.users.rules import is_email

        if wanted.owner and not is_email(wanted.owner):
            raise CommandFailed(f"{wanted.owner} is no email address.")
        Settings(external_host=wanted.host)  # raises for one that is no name
        self._folder, self._wanted, self._group = folder, wanted, group
        self.path = folder / "tertulia.toml"

    def find(self) -> "Settings | None":
        """What it says, if it is there; refused if it is for another host."""
        from tertulia.kernel.settings import load_settings

        if not self.path.exists():
            return None
        found = load_settings(self.path, {})
        if found.external_host != self._wanted.host:
            raise CommandFailed(
                f"{self.path} is there already, for {found.external_host}. Change external_host in it,"
                " or set up another server with --folder and --no-system."
            )
        return found

    def write(self, postgres_url: str) -> "Settings":
        """Make the folder, the sealing keys, and at last the file."""
        from tertulia.kernel.sealing import new_key
        from tertulia.kernel.settings import load_settings

        if not self._folder.exists():
            self._folder.mkdir(parents=True)
            self._folder.chmod(0o755 if self._group else 0o700)  # whatever the umask is
        keys = self._folder / "sealing.keys"
        if not keys.exists():
            write_secret(keys, f"{new_key()}\n", self._group)
        nats_url = self._wanted.nats_url or _OWN_NATS.format(secrets.token_hex(16))
        storage = Path("/var/lib/tertulia/files") if self._group else self._folder / "files"
        storage.parent.mkdir(parents=True, exist_ok=True)
        text = _TEXT.format(
            postgres_url=postgres_url,
            nats_url=nats_url,
            host=self._wanted.host,
            sealing_keys=keys,
            storage=storage,
            more=self._wanted.more,
        )
        write_secret(self.path, text, self._group)
        say(f"wrote {self.path} and {keys}: keep a copy of both with your backups")
        return load_settings(self.path, {})


def configure_own_nats(folder: Path, settings: "Settings", *, group: str | None) -> bool:
    """Write the configuration of the NATS that we set up; whether it is that one which the settings name."""
    if re.fullmatch(_OWN_NATS.format("[0-9a-f]+"), settings.nats_url) is None:
        return False
    path, text = folder / "nats.conf", shipped("nats.conf").read_text()
    if not path.exists():
        text = text.replace("PASSWORD", split_url(settings.nats_url).password or "")
        if group is None:
            text = text.replace("/var/lib/tertulia-nats", str(folder / "nats"))
        write_secret(path, text, group)
        say(f"wrote {path}")
    return True


def write_secret(path: Path, text: str, group: str | None) -> None:
    """A new file, whole or not at all, that nobody else reads: its owner's (0600), or also its group's (root:group, 0640)."""
    attempt = path.with_name(f"{path.name}.new")
    attempt.unlink(missing_ok=True)
    handle = os.open(attempt, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        if group is not None:
            os.fchown(handle, 0, grp.getgrnam(group).gr_gid)
            os.fchmod(handle, 0o640)
        file.write(text)
        file.flush()
        os.fsync(handle)
    attempt.rename(path)
