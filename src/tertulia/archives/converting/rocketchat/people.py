"""Who is who in Rocket.Chat. Reactions, mentions and old rooms name people by a handle instead of an id."""

from tertulia.archives.converting.names import plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.roster import Roster, Said
from tertulia.archives.converting.values import Json, moment, objects, string, strings
from tertulia.archives.form import kinds
from tertulia.kernel.auth import Role

WANTED = frozenset(
    ("_id", "username", "name", "emails", "active", "roles", "type", "createdAt", "statusText", "__rooms")
)
BOTS = ("bot", "app")


class People:
    """Everybody, by id and by handle."""

    def __init__(self, roster: Roster, incidents: Incidents) -> None:
        self._roster = roster
        self._incidents = incidents
        self._by_handle: dict[str, int] = {}

    def add(self, user: Json) -> int | None:
        """Somebody with an account. Customers of live chats have none: they are known by what they wrote."""
        key, handle = string(user.get("_id")), string(user.get("username"))
        kind = string(user.get("type")) or "user"
        if not key or kind not in ("user", *BOTS):
            self._incidents.lose("accounts without an id, or of visitors", key, f"{kind} {handle}")
            return None
        roles = strings(user.get("roles"))
        is_bot = kind in BOTS or "bot" in roles
        role = Role.ADMINISTRATOR if "admin" in roles else Role.GUEST if "guest" in roles else Role.MEMBER
        status = shortened(plain(string(user.get("statusText"))), 60)
        id = self._roster.add(
            Said(
                key,
                string(user.get("name")).strip() or handle or key,
                self._address(user, key),
                role,
                is_active=user.get("active") is not False,
                is_bot=is_bot,
                joined=moment(user.get("createdAt")),
                status=kinds.Status(text=status) if status else None,
            )
        )
        if handle:
            self._by_handle.setdefault(handle, id)
        return id

    def _address(self, user: Json, key: str) -> str:
        """One that was confirmed goes before others."""
        emails = [one for one in objects(user.get("emails")) if string(one.get("address")).strip()]
        confirmed = [one for one in emails if one.get("verified") is True]
        if emails and not confirmed:
            self._incidents.change("addresses that nobody confirmed there", key)
        return next((string(one["address"]).strip() for one in [*confirmed, *emails]), "")

    def person(self, user: Json) -> int:
        """Whoever a document names: `_id`, `username`, `name`."""
        key, handle = string(user.get("_id")), string(user.get("username"))
        known = self._roster.find(key) if key else self._by_handle.get(handle)
        if known is None:
            known = self._roster.stranger(key or f"@{handle}", string(user.get("name")) or handle)
            if handle:
                self._by_handle.setdefault(handle, known)
        return known

    def find(self, key: str) -> int | None:
        """By id."""
        return self._roster.find(key)

    def named(self, handle: str) -> int | None:
        """By handle: they may be stale after a rename."""
        return self._by_handle.get(handle)

    def bot(self, name: str) -> int:
        """An integration, by the name that it shows."""
        return self._roster.bot(name)
