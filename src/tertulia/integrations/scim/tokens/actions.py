"""Making and revoking the tokens of directories. Every owner hears of it: a token makes accounts and switches them off."""

import secrets
from collections.abc import Callable
from importlib.util import find_spec

import msgspec

from tertulia.content.markup.writing import Mention, worded
from tertulia.integrations.scim.bounds import TOKENS
from tertulia.integrations.scim.tokens import queries
from tertulia.integrations.scim.tokens.words import Words, words_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.text import bad_character
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import languages_of
from tertulia.people.users.authentication.holding import hold_credential
from tertulia.people.users.queries import lock_accounts
from tertulia.people.users.rules import check_is_owner

PREFIX = "tertulia_scim_"
"""What tokens begin with, so that those who look for secrets in the wrong places find them."""
MAX_LABEL_LENGTH = 100


class NewToken(msgspec.Struct, frozen=True):
    """A token, at the only moment it is known."""

    id: int
    token: str


async def make_token(tx: Transaction, realm_id: int, label: str, caller: Caller | None) -> NewToken:
    """Make a token, as an owner who has proved who they are; without a caller, as the operator of the server."""
    label = _checked(label)
    if find_spec("scim2_models") is None:
        raise Refusal("This server does not speak SCIM. Its operator installs it: pip install 'tertulia[scim]'.")
    if caller is not None:
        await _hold_owner(tx, caller)
    token = PREFIX + secrets.token_urlsafe(32)
    await check_room(tx, TOKENS, realm_id)
    made_by = caller.user_id if caller else None
    token_id = await queries.insert_token(tx, realm_id, digest_of_key(token), label, made_by)
    note(tx, realm_id, Act.SCIM_TOKEN_MADE, realm(realm_id), token_id=(None, token_id), label=(None, label))
    await _tell_owners(tx, realm_id, caller, lambda words: words.made, label)
    return NewToken(token_id, token)


async def revoke_token(tx: Transaction, realm_id: int, token_id: int, caller: Caller | None) -> None:
    """End a token, as an owner who has proved who they are, or as the operator. Calls with it are refused from the commit on."""
    if caller is not None:
        await _hold_owner(tx, caller)
    label = await queries.delete_token(tx, realm_id, token_id)
    if label is None:
        raise Refusal("There is no such SCIM token.")
    note(tx, realm_id, Act.SCIM_TOKEN_REVOKED, realm(realm_id), token_id=(token_id, None), label=(label, None))
    await _tell_owners(tx, realm_id, caller, lambda words: words.revoked, label)


async def _hold_owner(tx: Transaction, caller: Caller) -> None:
    """Refuse who is not an owner at this moment; they stay one until the commit."""
    held = await lock_accounts(tx, caller.realm_id, [caller.user_id])
    actor = held.get(caller.user_id)
    if actor is None or not actor.is_active:
        raise Refusal("Insufficient permission")
    check_is_owner(actor)
    await hold_credential(tx, caller)


async def _tell_owners(
    tx: Transaction, realm_id: int, caller: Caller | None, did: Callable[[Words], str], label: str
) -> None:
    others = [owner for owner in await queries.owners_of(tx, realm_id) if caller is None or owner != caller.user_id]
    notices = []
    for owner, language in (await languages_of(tx, others)).items():
        words = words_of(language)
        who = Mention(caller.user_id, caller.full_name) if caller else words.operator
        notices.append(Notice(worded(did(words), who=who, label=label), user_id=owner))
    await tell(tx, realm_id, notices)


def _checked(label: str) -> str:
    label = label.strip()
    if not label or len(label) > MAX_LABEL_LENGTH or bad_character(label) is not None:
        raise Refusal(f"Say what the token is for: 1 to {MAX_LABEL_LENGTH} characters, all of them visible.")
    return label
