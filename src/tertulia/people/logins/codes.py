"""Wrong codes and passkeys of people who are logged in count as wrong passwords do, apart from them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tertulia.kernel.auth import Caller
from tertulia.organization.audit_log import Act
from tertulia.people.logins.attempts import Attempts, Target
from tertulia.people.logins.names import own_failure_key


class CountedCodes:
    """Counts them for the account, whichever session or key they come by."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts

    @asynccontextmanager
    async def of(self, caller: Caller) -> AsyncIterator[None]:
        """A Refusal inside counts as a wrong code of the caller; refuses if there were too many."""
        own = own_failure_key(caller.user_id)
        target = Target(caller.realm_id, own, "codes", is_known=True, user_id=caller.user_id, failure=Act.PROOF_FAILED)
        async with self._attempts.attempt(target) as attempt:
            yield
            attempt.is_right = True
