"""Proving anew who one is: by the password of the account or of the directory, by a code, by a passkey, or by a login of the
last minutes.

A challenge for passkeys comes with the refusal of a call without a proof, and is good for that very call. Who has a second
factor changes their factors by a factor: with a stolen session and password nobody gives themselves a key of their own.

Only who has no password here at all, because a provider vouches for them, proves it by a young session: a new login at the
provider is the only thing they can show. Wrong passwords count for the session they came by, and for all keys of an account
together: no stranger locks a person out of their own settings, and who regenerates a stolen key gets no new tries.
"""

from contextlib import AbstractAsyncContextManager

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.people.factors.actions import use_code
from tertulia.people.factors.passkeys import use as passkeys
from tertulia.people.factors.passkeys.model import RequestOptions
from tertulia.people.factors.passkeys.party import party_of
from tertulia.people.factors.passkeys.queries import Bound
from tertulia.people.factors.queries import get_factor
from tertulia.people.logins import queries
from tertulia.people.logins.codes import CountedCodes
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.logins.queries import Account
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.authentication.holding import check_access
from tertulia.people.users.reauthentication import Proof, Reauthentication, proof_needed

YOUNG_SECONDS = 600
KEYS = "keys"
PURPOSE_LENGTH = 300


class PasswordReauthentication(Reauthentication):
    """The one decision about proofs."""

    def __init__(self, database: Database, settings: Settings, login: PasswordLogin, codes: CountedCodes) -> None:
        self._database = database
        self._settings = settings
        self._login = login
        self._codes = codes

    async def check(self, caller: Caller, call: Call, proof: Proof, *, by_factor: bool = False) -> None:
        """Refuse unless the caller has proved who they are; with `by_factor`, by their second factor if they have one."""
        async with self._database.reader() as reader:
            account = await queries.get_account(reader, caller.user_id)
            factor = await get_factor(reader, caller.user_id)
        has_password = self._login.has_password(caller, account) and not (by_factor and factor.is_on)
        if factor.passkeys and proof.passkey is not None:
            async with self._codes.of(caller):
                await self._use_passkey(caller, call, proof.passkey)
        elif factor.is_on and proof.code is not None:
            async with self._codes.of(caller), self._database.transaction() as tx:
                await use_code(tx, caller.user_id, proof.code)
        elif has_password and proof.password is not None:
            await self._login.check_own_password(caller, account, proof.password, credential_of(call, self._settings))
        elif has_password or (by_factor and factor.is_on) or not await self._is_young(account, call):
            raise await self._needed(caller, call, has_password=has_password, has_factor=factor.is_on)
        # Passwords are checked one after the other, and who is logged out meanwhile has proved nothing by one that they know.
        async with self._database.reader() as reader:
            await check_access(reader, caller)

    async def _use_passkey(self, caller: Caller, call: Call, used: Assertion) -> None:
        claimed = await passkeys.claim(self._database, _bound(caller, call), used.response.client_data)
        async with self._database.transaction() as tx:
            await passkeys.use_passkey(tx, party_of(caller, call, self._settings), claimed, used)

    def counting_codes(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Wrong codes that an endpoint looks at by itself count together with those of proofs."""
        return self._codes.of(caller)

    async def _needed(self, caller: Caller, call: Call, *, has_password: bool, has_factor: bool) -> Refusal:
        options: RequestOptions | None = None
        if has_factor:
            async with self._database.transaction() as tx:
                options = await passkeys.offer(tx, party_of(caller, call, self._settings), _bound(caller, call))
        methods = [*["password"] * has_password, *["code"] * has_factor, *["passkey"] * (options is not None)]
        return proof_needed(self._parameter(call), methods or ["login"], options)

    async def _is_young(self, account: Account, call: Call) -> bool:
        digest = session_digest(call, self._settings) if call.by_session else None
        async with self._database.reader() as reader:
            return digest is not None and await queries.is_young_session(reader, account.id, digest, YOUNG_SECONDS)

    def _parameter(self, call: Call) -> str:
        """PATCH /settings has had a name for it before."""
        return "old_password" if call.path.endswith("/settings") else "password"


def _bound(caller: Caller, call: Call) -> Bound:
    """What a passkey proves: that they who call want this call, by this session or key."""
    return Bound(caller.realm_id, f"{call.method} {call.path}"[:PURPOSE_LENGTH], caller.user_id, caller.credential)


def credential_of(call: Call, settings: Settings) -> str:
    """What wrong passwords of somebody who is logged in are counted for."""
    digest = session_digest(call, settings) if call.by_session else None
    return KEYS if digest is None else digest.hex()
