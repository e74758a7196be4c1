"""What a client knows of people and of the organization: the state of a registration, kept current by events.

Strict, as model_client.py is: an event about somebody unknown, or one that adds what is there, is an error.
"""

from typing import Any

from tests.system.model_client import Json, Mismatch

TYPES = [
    *("realm_user", "realm_bot", "custom_profile_fields", "user_settings", "realm", "realm_domains"),
    *("realm_user_settings_defaults", "muted_users", "alert_words"),
]
AVATAR = ("avatar_source", "avatar_url", "avatar_url_medium")
OWN = ("user_id", "email", "delivery_email", "full_name")
ROLES = {100: (True, True, False), 200: (False, True, False), 600: (False, False, True)}


class PeopleModel:
    """One client's knowledge."""

    def __init__(self, registered: Json) -> None:
        self.user_id: int = registered["user_id"]
        self.users: dict[int, Json] = {}
        for key, is_active in (("realm_users", True), ("realm_non_active_users", False)):
            for person in registered[key]:
                if person["user_id"] in self.users:
                    raise Mismatch(f"listed twice: {person}")
                self.users[person["user_id"]] = person | {"is_active": is_active}
        self.bots = {bot["user_id"]: bot for bot in registered["realm_bots"]}
        self.fields: list[Json] = registered["custom_profile_fields"]
        self.realm = {key: value for key, value in registered.items() if key.startswith("realm_")}
        # The address is that of the process that was asked, where each has its own port.
        for key in ("realm_users", "realm_non_active_users", "realm_bots", "realm_domains", "realm_url", "realm_uri"):
            del self.realm[key]
        for key in ("realm_emoji", "realm_linkifiers", "realm_playgrounds", "realm_filters"):  # own_model.py
            self.realm.pop(key, None)
        self.defaults = self.realm.pop("realm_user_settings_defaults")
        self.settings: Json = registered["user_settings"]
        self.domains = {one["domain"]: one for one in registered["realm_domains"]}
        self.muted: list[Json] = registered["muted_users"]
        self.words: list[str] = registered["alert_words"]
        self.own = {key: registered[key] for key in OWN}
        self.avatar = {key: registered[key] for key in AVATAR}

    def apply(self, event: Json) -> None:
        """Take one event."""
        if event["type"] in TYPES:
            getattr(self, f"_{event['type']}")(event)

    def differences(self, other: "PeopleModel") -> list[str]:
        """What the other one says differently."""
        found = []
        for name, ours in vars(self).items():
            theirs = getattr(other, name)
            if name == "words":
                ours, theirs = sorted(ours), sorted(theirs)
            if ours != theirs and isinstance(ours, dict):
                keys = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
                found += [f"{name}[{key}]: {ours.get(key)} against {theirs.get(key)}" for key in keys]
            elif ours != theirs:
                found.append(f"{name}: {ours} against {theirs}")
        return found

    def _realm_user(self, event: Json) -> None:
        person = event["person"]
        known = self.users.get(person["user_id"])
        match event["op"]:
            case "add" if known is None or known["full_name"] == "Unknown user":
                self.users[person["user_id"]] = person | {"is_active": True}
            case "remove" if known is not None:
                del self.users[person["user_id"]]
            case "update" if known is not None:
                self._update(known, dict(person))
            case _:
                raise Mismatch(f"somebody came twice, or an unknown one changed: {event}")

    def _update(self, known: Json, changed: Json) -> None:
        if "new_email" in changed:
            changed["email"] = changed.pop("new_email")
        if (value := changed.pop("custom_profile_field", None)) is not None:
            number = str(value.pop("id"))
            known["profile_data"].pop(number, None)
            if value["value"] is not None:
                known["profile_data"][number] = value
        if "avatar_source" in changed:
            told = {key: changed[key] for key in AVATAR}
            del changed["avatar_source"], changed["avatar_url_medium"]
            if known["user_id"] == self.user_id:
                self.avatar |= told
        if "role" in changed:
            flags = ROLES.get(changed["role"], (False, False, False))
            changed |= dict(zip(("is_owner", "is_admin", "is_guest"), flags, strict=True))
        known.update(changed)
        if known["user_id"] == self.user_id:
            self.own |= {key: known[key] for key in OWN}

    def _realm_bot(self, event: Json) -> None:
        bot = event["bot"]
        known = self.bots.get(bot["user_id"])
        match event["op"]:
            case "add" if known is None:
                self.bots[bot["user_id"]] = bot
            case "update" if known is not None:
                known.update(bot)
            case "delete" if known is not None:
                del self.bots[bot["user_id"]]
            case _:
                raise Mismatch(f"a bot came twice, or an unknown one changed: {event}")

    def _custom_profile_fields(self, event: Json) -> None:
        self.fields = event["fields"]
        numbers = {str(field["id"]) for field in self.fields}
        for person in self.users.values():
            said: Json = person.get("profile_data", {})
            for number in said.keys() - numbers:
                del said[number]

    def _realm(self, event: Json) -> None:
        data = event["data"] if event["op"] == "update_dict" else {event["property"]: event["value"]}
        if event["op"] == "update_dict" and event["property"] in ("icon", "logo", "night_logo"):
            kind = event["property"]
            self.realm[f"realm_{kind}_source"] = data.pop(f"{kind}_source")  # uploaded before, and now again
        for name, value in data.items():
            self._replace(self.realm, f"realm_{name}", value, event)

    def _user_settings(self, event: Json) -> None:
        self._replace(self.settings, event["property"], event["value"], event)

    def _realm_user_settings_defaults(self, event: Json) -> None:
        self._replace(self.defaults, event["property"], event["value"], event)

    def _replace(self, known: Json, name: str, value: Any, event: Json) -> None:
        if name not in known or known[name] == value:
            raise Mismatch(f"unknown, or nothing new ({known.get(name)}): {event}")
        known[name] = value

    def _realm_domains(self, event: Json) -> None:
        domain = event.get("domain") or event["realm_domain"]["domain"]
        if (domain in self.domains) == (event["op"] == "add"):
            raise Mismatch(f"a domain came twice, or an unknown one changed: {event}")
        if event["op"] == "remove":
            del self.domains[domain]
        else:
            self.domains[domain] = event["realm_domain"]

    def _muted_users(self, event: Json) -> None:
        self.muted = event["muted_users"]

    def _alert_words(self, event: Json) -> None:
        self.words = event["alert_words"]
