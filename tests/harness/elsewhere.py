"""A server that runs already, at an address: the people and channels that tests need are made through its API.

An owner's credentials are all it takes. Everything made has a name that nobody has used, so a server with a history, also
one of earlier runs, serves as well as a new one.
"""

import httpx

from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, MODERATOR, OWNER, PLAIN_HTTP, Channel, Ready, User
from tests.harness.talk import Json, check_success, encoded, unique

PARTS = {"administrator": ADMINISTRATOR, "moderator": MODERATOR, "member": MEMBER, "other": MEMBER, "guest": GUEST}


class Unfit(Exception):
    """Why the tests cannot run against a server."""


def ready_at(url: str, credentials: str) -> Ready:
    """What `tertulia dev --json` would say of the server at this address; the credentials are `address:key or password`."""
    url = url.rstrip("/")
    email, colon, secret = credentials.partition(":")
    if not colon:
        raise Unfit("the owner's credentials are an email address, a colon, and an API key or password")
    with httpx.Client(base_url=f"{url}/api/v1/", timeout=30, trust_env=False, verify=PLAIN_HTTP) as http:
        owner = _owner(http, email, secret)
        http.auth = httpx.BasicAuth(owner.email, owner.api_key)
        people = {part: _person(http, part, role) for part, role in PARTS.items()}
        bot = _bot(http)
        open_to = [owner, people["member"], people["other"]]
        channels = [_channel(http, open_to, invite_only=False), _channel(http, [owner], invite_only=True)]
    return Ready(url, "", "", "", [owner, *people.values(), bot], channels)


def _owner(http: httpx.Client, email: str, secret: str) -> User:
    reply = http.get("users/me", auth=(email, secret))
    if "x-ratelimit-limit" in reply.headers:
        raise Unfit("the server limits calls; start it with TERTULIA_RATE_LIMITS=false")
    if reply.status_code != 200:
        login = http.post("fetch_api_key", data={"username": email, "password": secret})
        if login.status_code != 200:
            raise Unfit(f"the server knows neither this key nor this password of {email}: {login.text}")
        secret = login.json()["api_key"]
        reply = http.get("users/me", auth=(email, secret))
    own = check_success(reply)
    if own["role"] != OWNER:
        raise Unfit(f"{email} is not an owner of the organization")
    return User(own["user_id"], email, "", secret, OWNER)


def _person(http: httpx.Client, part: str, role: int) -> User:
    email, password = unique(part).replace(" ", ".") + "@example.com", unique("Nobody guesses")
    user_id = _post(http, "users", email=email, password=password, full_name=f"The {part}")["user_id"]
    if role != MEMBER:
        check_success(http.patch(f"users/{user_id}", data={"role": str(role)}))
    key = _post(http, "fetch_api_key", username=email, password=password)["api_key"]
    return User(user_id, email, password, key, role)


def _bot(http: httpx.Client) -> User:
    name = unique("contract").replace(" ", "-")
    made = _post(http, "bots", full_name=name, short_name=name)
    user = check_success(http.get(f"users/{made['user_id']}"))["user"]
    return User(made["user_id"], user["email"], None, made["api_key"], MEMBER)


def _channel(http: httpx.Client, people: list[User], *, invite_only: bool) -> Channel:
    name = unique("contract")
    principals = [user.user_id for user in people]
    _post(
        http, "users/me/subscriptions", subscriptions=[{"name": name}], principals=principals, invite_only=invite_only
    )
    return Channel(check_success(http.get("get_stream_id", params={"stream": name}))["stream_id"], name)


def _post(http: httpx.Client, path: str, **fields: object) -> Json:
    return check_success(http.post(path, data=encoded(fields)))
