"""Passwords of people in tests, at what it costs to hash them there."""

from functools import cache

from argon2 import PasswordHasher

from tertulia.kernel.settings import Settings
from tests.harness.server import PATIENT
from tests.harness.stage import Stage
from tests.harness.talk import Speaker

AS_IN_TESTS = Settings(password_memory_mib=int(PATIENT["password_memory_mib"]))
PASSWORD = "violet anchors drift slowly"


@cache
def hashed(password: str = PASSWORD) -> str:
    """As the server stores it."""
    return PasswordHasher(memory_cost=AS_IN_TESTS.password_memory_mib * 1024).hash(password)


def give_password(stage: Stage, *people: Speaker) -> None:
    """Let these log in with PASSWORD from now on."""
    for speaker in people:
        stage.sql("update account set password_hash = %s where id = %s", hashed(), speaker.id)
