"""The lines that only a moving archive has. What is sealed in the database is opened: the archive is encrypted as a whole."""

from typing import Any

import asyncpg
import msgspec

from tertulia.integrations.incoming.queries import SECRET as HOOK_SECRET
from tertulia.kernel.sealing import Sealer
from tertulia.people.bots.queries import TOKEN
from tertulia.people.factors.stored_secret import SECRET

CREDENTIALS = """
select (select row_to_json(found)::text from (select account.id as user_id, account.password_hash,
        array(select json_build_object('digest', encode(digest, 'hex'), 'label', label, 'created', created,
            'last_used', last_used, 'made_by', made_by, 'address', address, 'issuer', issuer,
            'provider_session', provider_session) from api_key where user_id = account.id order by id) as keys,
        (select json_build_object('is_confirmed', is_confirmed, 'begun', begun, 'last_step', last_step, 'due', due,
            'handle', encode(handle, 'hex')) from second_factor where user_id = account.id) as factor,
        array(select encode(digest, 'hex') from recovery_code where user_id = account.id order by digest) as recovery_codes,
        array(select json_build_object('credential', encode(credential, 'hex'), 'public_key', encode(public_key, 'hex'),
            'sign_count', sign_count, 'label', label, 'transports', transports, 'is_verifying', is_verifying,
            'is_synced', is_synced, 'created', created, 'last_used', last_used)
            from passkey where user_id = account.id order by id) as passkeys,
        array(select json_build_object('provider', provider, 'subject', subject, 'username', username)
            from external_identity where realm_id = $1 and user_id = account.id order by provider, subject) as identities
    ) as found) as line,
    (select secret from second_factor where user_id = account.id) as secret,
    (select token from bot_service where user_id = account.id) as token,
    array(select row(integration, secret) from hook_secret where user_id = account.id order by id) as hook_secrets
from account where realm_id = $1 and system_bot is null order by id
"""
PLAIN = {
    "sent_requests": """
select row_to_json(found)::text as line from (
    select sender_id as user_id, key, message_id, sent_at as sent, policy
    from sent_request join account on account.id = sender_id where realm_id = $1 order by sender_id, key
) as found
""",
    "bot_storage": """
select row_to_json(found)::text as line from (
    select user_id, key, value from bot_storage join account on account.id = user_id where realm_id = $1
    order by user_id, key
) as found
""",
}


def line_of(row: asyncpg.Record, sealer: Sealer) -> bytes:
    """A line of credentials, with what the database holds sealed."""
    line: dict[str, Any] = msgspec.json.decode(row["line"])
    if row["secret"] is not None:
        line["factor"]["secret"] = sealer.open(SECRET, row["secret"]).hex()
    if row["token"] is not None:
        line["token"] = sealer.open_text(TOKEN, row["token"])
    line["hook_secrets"] = [
        {"integration": integration, "secret": sealer.open_text(HOOK_SECRET, secret)}
        for integration, secret in row["hook_secrets"]
    ]
    return msgspec.json.encode(line)
