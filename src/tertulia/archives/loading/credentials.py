"""What a moving archive brings besides, in the last transaction: all that opens accounts, sealed with this server's key."""

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import moving
from tertulia.archives.loading.beginning import Begun
from tertulia.archives.loading.furnishing import Row, copy
from tertulia.archives.loading.shifts import Spans
from tertulia.archives.reading.archive import Archive
from tertulia.integrations.incoming.queries import SECRET as HOOK_SECRET
from tertulia.kernel.db import Reader, Transaction
from tertulia.people.bots.queries import put_token, set_signed_only
from tertulia.people.factors.stored_secret import seal_secret

_PASSWORDS = """
update account set password_hash = known.hash from unnest($1::bigint[], $2::text[]) as known(id, hash)
where account.id = known.id
"""
_IN_USE = """
select subdomain from api_key join account on account.id = user_id join realm on realm.id = realm_id
where digest = any($1::bytea[]) limit 1
"""
_COLUMNS = {
    "api_key": "user_id digest label created last_used made_by address issuer provider_session",
    "second_factor": "user_id secret is_confirmed begun last_step due handle",
    "recovery_code": "user_id digest",
    "passkey": """realm_id user_id credential public_key sign_count label transports is_verifying is_synced created
        last_used""",
    "external_identity": "realm_id provider subject user_id username",
    "hook_secret": "user_id integration secret",
    "sent_request": "sender_id key message_id sent_at policy",
    "bot_storage": "user_id key value size",
}


async def check_keys(reader: Reader, archive: Archive) -> None:
    """Refuse an organization whose keys open accounts here: it is on this server already. Asked before anything is written."""
    if archive.manifest.scope != "moving":
        return
    digests = [bytes.fromhex(key.digest) for one in archive.of(moving.Credentials) for key in one.keys]
    where = await reader.fetchval(_IN_USE, digests)
    if where is not None:
        raise ArchiveFailed(
            f"API keys of this organization are in use on this server, at the subdomain {where!r}: it is here already."
        )


async def write_credentials(tx: Transaction, archive: Archive, spans: Spans, begun: Begun) -> None:
    """All of them; nothing if the archive is no moving one. What was sent under a key and is not in the archive could come to
    mean a message of others."""
    rows: dict[str, list[Row]] = {table: [] for table in _COLUMNS}
    passwords: list[tuple[int, str | None]] = []
    if archive.manifest.scope != "moving":
        return
    for one in archive.of(moving.Credentials):
        id = one.user_id + begun.shifts.person
        passwords.append((id, one.password_hash))
        _add(tx, rows, begun.realm_id, id, one)
        if one.token is not None:
            await put_token(tx, id, one.token)
        if one.hook_secrets:
            await set_signed_only(tx, id, signed_only=True)
    for sent in archive.of(moving.SentRequest):
        if not spans.has("message", sent.message_id):
            continue
        about = (sent.key, sent.message_id + begun.shifts.message, sent.sent, sent.policy)
        rows["sent_request"].append((sent.user_id + begun.shifts.person, *about))
    for kept in archive.of(moving.Stored):
        size = len(kept.key) + len(kept.value)
        rows["bot_storage"].append((kept.user_id + begun.shifts.person, kept.key, kept.value, size))
    await tx.execute(_PASSWORDS, [id for id, _ in passwords], [hash for _, hash in passwords])
    for table, columns in _COLUMNS.items():
        await copy(tx, table, columns, rows[table])


def _add(tx: Transaction, rows: dict[str, list[Row]], realm_id: int, id: int, one: moving.Credentials) -> None:
    rows["api_key"] += [
        (
            *(id, bytes.fromhex(key.digest), key.label, key.created, key.last_used, key.made_by, key.address),
            *(key.issuer, key.provider_session),
        )
        for key in one.keys
    ]
    if (factor := one.factor) is not None:
        secret = None if factor.secret is None else seal_secret(tx, bytes.fromhex(factor.secret))
        handle = None if factor.handle is None else bytes.fromhex(factor.handle)
        rows["second_factor"].append(
            (id, secret, factor.is_confirmed, factor.begun, factor.last_step, factor.due, handle)
        )
    rows["recovery_code"] += [(id, bytes.fromhex(code)) for code in one.recovery_codes]
    rows["passkey"] += [
        (
            *(realm_id, id, bytes.fromhex(key.credential), bytes.fromhex(key.public_key), key.sign_count, key.label),
            *(key.transports, key.is_verifying, key.is_synced, key.created, key.last_used),
        )
        for key in one.passkeys
    ]
    rows["external_identity"] += [(realm_id, who.provider, who.subject, id, who.username) for who in one.identities]
    rows["hook_secret"] += [
        (id, hook.integration, tx.sealer.seal_text(HOOK_SECRET, hook.secret)) for hook in one.hook_secrets
    ]
