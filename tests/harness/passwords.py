"""A password for people of tests who were made without one: hashed once, because that takes long on purpose."""

from functools import cache

from argon2 import PasswordHasher

from tests.harness.browser import PASSWORD
from tests.harness.stage import Stage
from tests.harness.talk import Speaker


@cache
def _stored() -> str:
    return PasswordHasher().hash(PASSWORD)


def give_password(stage: Stage, *people: Speaker) -> None:
    """Let these log in with PASSWORD from now on."""
    for speaker in people:
        stage.sql("update account set password_hash = %s where id = %s", _stored(), speaker.id)
