"""Proving anew who one is, in the call itself: what a stolen key or session must not be enough for.

The feature above that knows passwords provides `Reauthentication` as a service. An endpoint asks for it before it opens a
transaction: checking a password takes long, on purpose.
"""

from contextlib import AbstractAsyncContextManager

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.people.users.assertion import Assertion

CODE = "REAUTHENTICATION_REQUIRED"


class Proof(msgspec.Struct, frozen=True):
    """What a caller sent along to show that they are who the key or session says."""

    password: str | None = None
    code: str | None = None
    """Of the second factor: the authenticator's, or a recovery code."""
    passkey: Assertion | None = None
    """That a passkey has signed the challenge which the refusal of this call gave out."""


class Reauthentication:
    """Decides whether a proof is good."""

    async def check(self, caller: Caller, call: Call, proof: Proof, *, by_factor: bool = False) -> None:
        """Refuse unless the caller has proved who they are. In transactions of its own: call it while holding none.

        With `by_factor` who has a second factor proves it by that, and the password is not enough.
        """
        raise NotImplementedError

    def counting_codes(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Where an endpoint looks at a code by itself: a Refusal inside counts as a wrong one, and too many are refused."""
        raise NotImplementedError

    async def check_session(self, caller: Caller, call: Call, proof: Proof) -> None:
        """The same, only of a browser's session: before it makes or widens what outlives it. A key is one of those already."""
        if call.by_session:
            await self.check(caller, call, proof)


def proof_needed(parameter: str, methods: list[str], passkey: object = None) -> Refusal:
    """The refusal of a call without a proof; `methods` are those which the caller has, `passkey` what theirs are asked with."""
    if methods == ["login"]:
        msg = "This needs a login of the last minutes: log in again with your browser, then repeat it there."
    elif methods == ["password"]:
        msg = f"This needs your password once more: send it as `{parameter}`."
    else:
        either = f"your password once more, as `{parameter}`, or " if "password" in methods else ""
        msg = f"This needs {either}a code of your second factor, as `code`."
    if passkey is None:
        return Refusal(msg, code=CODE, status=403, methods=methods)
    return Refusal(msg, code=CODE, status=403, methods=methods, passkey=passkey)
