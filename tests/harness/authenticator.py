"""An authenticator for tests: it knows a secret and makes codes, each of them once."""

import base64
import secrets
import time

from tertulia.people.factors.totp import STEP_SECONDS, code_at, secret_text
from tests.harness.stage import Stage


class Authenticator:
    """Takes the secret as a person types it."""

    def __init__(self, secret: str) -> None:
        self._secret = base64.b32decode(secret + "=" * (-len(secret) % 8))
        self._last = 0

    def let_time_pass(self, stage: Stage, user_id: int) -> None:
        """As if the codes given out so far were of long ago."""
        stage.sql("update second_factor set last_step = 1 where user_id = %s", user_id)
        self._last = 0

    def code(self) -> str:
        """A code that was not given out before. The step after this one counts as well, so two of them need no waiting;
        whoever needs a third lets time pass."""
        here = int(time.time() // STEP_SECONDS)
        step = max(here, self._last + 1)
        while step > int(time.time() // STEP_SECONDS) + 1:
            time.sleep(0.5)
        self._last = step
        return code_at(self._secret, step)


def give_factor(stage: Stage, user_id: int) -> Authenticator:
    """Let somebody have a second factor."""
    secret = secrets.token_bytes(20)
    stage.sql("insert into second_factor (user_id, secret, is_confirmed) values (%s, %s, true)", user_id, secret)
    return Authenticator(secret_text(secret))
