"""A browser for tests: it keeps cookies, sends no authorization header, and knows its CSRF token once it has logged in."""

from http.cookiejar import Cookie
from typing import Any

import httpx

from tertulia.kernel.db import Transaction
from tertulia.people.users.actions import create_user
from tests.harness.passwords import PASSWORD, hashed
from tests.harness.server import MEMBER, PLAIN_HTTP, User
from tests.harness.stage import Stage
from tests.harness.talk import Json, check_success, encoded, unique


class Browser:
    """Close it."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=f"{url}/api/v1/", timeout=30, trust_env=False, verify=PLAIN_HTTP)
        self.csrf_token: str | None = None

    def request(self, method: str, path: str, **fields: Any) -> httpx.Response:
        headers = {"X-CSRF-Token": self.csrf_token} if self.csrf_token else {}
        if method == "GET":
            return self.http.request(method, path, params=encoded(fields), headers=headers)
        return self.http.request(method, path, data=encoded(fields), headers=headers)

    def get(self, path: str, **fields: Any) -> Json:
        return check_success(self.request("GET", path, **fields))

    def post(self, path: str, **fields: Any) -> Json:
        return check_success(self.request("POST", path, **fields))

    def log_in(self, user: User) -> Json:
        found = self.post("sessions", username=user.email, password=PASSWORD)
        self.csrf_token = found["csrf_token"]
        return found

    @property
    def cookie(self) -> Cookie:
        """The one of the session."""
        [cookie] = [one for one in self.http.cookies.jar if one.name.endswith("tertulia_session")]
        return cookie

    @property
    def token(self) -> str:
        assert self.cookie.value
        return self.cookie.value


def person(stage: Stage, realm_id: int | None = None) -> User:
    """Somebody with a password."""
    email = unique("person").replace(" ", ".") + "@example.com"

    async def make(tx: Transaction) -> int:
        return await create_user(tx, realm_id or stage.realm_id, email, "A Person", password_hash=hashed())

    return User(stage.write(make), email, PASSWORD, "", MEMBER)
