"""Users: what the API shows of them, who looks at them, and what actions need to know of one."""

from enum import StrEnum

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.settings import Settings
from tertulia.people.users.addresses import fake_domain, seen_by


class ProfileValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person says in a custom profile field."""

    value: str
    rendered_value: str | msgspec.UnsetType = msgspec.UNSET


class ProfileEntry(msgspec.Struct, frozen=True):
    """What is to be said in a custom profile field. An empty value takes back what was said."""

    id: int
    value: str | list[int] = ""


class UserRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A user as the API shows them. The description of it: the text is made by PostgreSQL, see statements.py."""

    user_id: int
    delivery_email: str | None
    email: str
    full_name: str
    date_joined: str
    is_active: bool | msgspec.UnsetType = msgspec.UNSET
    is_owner: bool
    is_admin: bool
    is_guest: bool
    is_bot: bool
    bot_type: int | None
    bot_owner_id: int | msgspec.UnsetType | None = msgspec.UNSET
    role: int
    timezone: str
    """Empty: not said, or to a reader without an account."""
    avatar_url: str | None
    avatar_version: int
    is_imported_stub: bool
    profile_data: dict[str, ProfileValue] | msgspec.UnsetType = msgspec.UNSET


class UserView(msgspec.Struct, frozen=True):
    """Who looks at users, as far as it makes a difference to what they see."""

    realm_id: int
    sees: tuple[int, ...]
    """The visibilities whose addresses they see."""
    reader_id: int
    """0: nobody, a reader without an account."""
    domain: str
    own_email: str = ""
    """The reader's own address, if it is hidden from others of their role: they alone of them see it."""

    @property
    def is_anonymous(self) -> bool:
        """A reader without an account."""
        return not self.reader_id

    @property
    def shared(self) -> "UserView":
        """What everybody of the reader's role sees, with nothing of the reader's own."""
        return msgspec.structs.replace(self, reader_id=-1, own_email="") if self.reader_id else self

    @property
    def arguments(self) -> tuple[tuple[int, ...], int, str]:
        """The first arguments of every statement that shows users."""
        return self.sees, self.reader_id, self.domain


def view_of(caller: Caller) -> UserView:
    """What a caller sees of others."""
    sees = seen_by(caller.role)
    hides_own = not caller.is_bot and caller.email_visibility not in sees
    return UserView(caller.realm_id, sees, caller.user_id, caller.fake_domain, caller.email if hides_own else "")


def anonymous_view(realm_id: int, subdomain: str, settings: Settings) -> UserView:
    """What anybody on the Internet sees of an organization with public access: no address of a person."""
    return UserView(realm_id, seen_by(None), 0, fake_domain(settings, subdomain))


class Account(msgspec.Struct, frozen=True):
    """What an action needs to know of an account, locked."""

    id: int
    email: str
    full_name: str
    role: int
    bot_type: int | None
    bot_owner_id: int | None
    is_active: bool
    email_visibility: int
    bot_role: int | None = None
    """The role a bot was given. `role` is what it counts as: no more than its owner."""

    @property
    def is_bot(self) -> bool:
        """Bots are programs."""
        return self.bot_type is not None

    @property
    def given_role(self) -> int:
        """The role that somebody gave the account."""
        return self.role if self.bot_role is None else self.bot_role


class KeyOrigin(StrEnum):
    """How an API key was got. `made_by` in the database."""

    PASSWORD = "password"  # noqa: S105
    SESSION = "session"
    """In a browser that was logged in."""
    PROVIDER = "provider"
    """Through an identity provider."""
    OWNER = "owner"
    """Of a bot, by its owner."""
    OPERATOR = "operator"
    UNKNOWN = "unknown"
    """Before this was noted."""


MAX_KEYS = 100
"""API keys of one account. Each log-in of an app makes one."""


def avatar_url_medium(url: str) -> str:
    """Where an avatar is in a larger size. The address itself is put together by the function avatar_url of the database."""
    path, _, query = url.partition("?")
    return f"{path.removesuffix('.png')}-medium.png?{query}" if path.endswith(".png") else f"{path}/medium?{query}"
