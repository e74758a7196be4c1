"""Somebody without an account, who has got an invitation."""

import httpx

from tests.harness.browser import Browser
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.talk import check_success


class Visitor(Browser):
    """A browser at the address of an organization."""

    def __init__(self, realm: Realm) -> None:
        super().__init__(realm.stage.server.url)
        self.http.headers["host"] = realm.host

    def sign_up(self, key: str, full_name: str = "Nora New", password: str = PASSWORD) -> httpx.Response:
        return self.request("POST", f"signups/{key}", full_name=full_name, password=password)

    def join(self, key: str, full_name: str = "Nora New") -> int:
        """Sign up; the new user's id."""
        session = check_success(self.sign_up(key, full_name))
        self.csrf_token = session["csrf_token"]
        assert self.get("sessions/current")["user_id"] == session["user_id"]
        return int(session["user_id"])
