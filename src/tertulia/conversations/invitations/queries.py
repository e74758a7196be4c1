"""SQL of invitations: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.invitations.model import Offer, Terms
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.sealing import SealedColumn
from tertulia.people.users.addresses import email_key_of

LINK_KEY = SealedColumn("invitation", "key", row="id", is_text=True)

_GOOD = "(invitation.expires is null or invitation.expires > now())"
_TERMS = f"""
select found.invitation_id, invitation.inviter_id, inviter.full_name as inviter_name, inviter.role as inviter_role,
    found.email, invitation.id is not null and invitation.email is null as is_reusable,
    coalesce(invitation.invited_as, 400) as invited_as, coalesce(invitation.channel_ids, '{{}}') as channel_ids,
    coalesce(invitation.group_ids, '{{}}') as group_ids, coalesce(invitation.with_defaults, true) as with_defaults,
    coalesce(invitation.tells_inviter, false) as tells_inviter, coalesce(invitation.is_handed_over, false) as is_handed_over
from found left join invitation on invitation.id = found.invitation_id
left join account as inviter on inviter.id = invitation.inviter_id
where found.invitation_id is null or (invitation.id is not null and {_GOOD} and inviter.is_active)
order by found.invitation_id desc
"""


# Keys


async def find_terms(reader: Reader, realm_id: int, digest: bytes) -> Terms | None:
    """The invitation of a key, if it is valid."""
    sql = f"""
    with found as (
        select id as invitation_id, email from invitation where realm_id = $1 and digest = $2
        union all
        select invitation_id, email from signup where realm_id = $1 and digest = $2 and expires > now()
    ) {_TERMS}
    """
    row = await reader.fetchrow(sql, realm_id, digest)
    return Terms(**row) if row else None


async def terms_of_address(reader: Reader, realm_id: int, email_key: str) -> list[Terms]:
    """The good invitations to an address, the newest first."""
    sql = f"""
    with found as (select id as invitation_id, email from invitation where realm_id = $1 and email_key = $2) {_TERMS}
    """
    return [Terms(**row) for row in await reader.fetch(sql, realm_id, email_key)]


class Ended(msgspec.Struct, frozen=True):
    """An invitation that is no more."""

    id: int
    inviter_id: int
    is_good: bool


async def end_of_address(tx: Transaction, realm_id: int, email_key: str) -> list[Ended]:
    """Whoever has this address is here now: all invitations to it, and all keys that were sent there, end."""
    sql = f"""
    with keys as (delete from signup where realm_id = $1 and email_key = $2)
    delete from invitation where id in (
        select id from invitation where realm_id = $1 and email_key = $2 order by id for update
    ) returning id, inviter_id, {_GOOD} as is_good
    """
    return [Ended(**row) for row in await tx.fetch(sql, realm_id, email_key)]


async def hold_link(tx: Transaction, invitation_id: int) -> bool:
    """Whether a link for many is still good; nobody takes it back before the commit."""
    sql = f"select true from invitation where id = $1 and email is null and {_GOOD} for key share"
    return bool(await tx.fetchval(sql, invitation_id))


async def insert_signup(
    tx: Transaction, realm_id: int, email: str, digest: bytes, invitation_id: int | None, seconds: int
) -> None:
    """Remember which key was sent to an address."""
    sql = """
    insert into signup (digest, realm_id, email, email_key, invitation_id, expires)
    values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
    """
    await tx.execute(sql, digest, realm_id, email, email_key_of(email), invitation_id, seconds)


# Inviting


async def accounts_at(reader: Reader, realm_id: int, email_keys: Sequence[str]) -> dict[str, bool]:
    """Which of these addresses are somebody's, each with whether the account is active."""
    sql = "select email_key, is_active from account where realm_id = $1 and email_key = any($2::text[])"
    return {row["email_key"]: row["is_active"] for row in await reader.fetch(sql, realm_id, email_keys)}


async def count_mails(tx: Transaction, realm_id: int, mails: int, limit: int) -> bool:
    """Count mails of today; False if they would be more than the limit."""
    sql = """
    insert into invitation_mails (realm_id, day, mails)
    select $1, (now() at time zone 'UTC')::date, $2::int where $2::int <= $3::int
    on conflict (realm_id, day) do update set mails = invitation_mails.mails + $2::int
        where invitation_mails.mails + $2::int <= $3::int
    returning true
    """
    return bool(await tx.fetchval(sql, realm_id, mails, limit))


async def insert_invitations(
    tx: Transaction,
    realm_id: int,
    inviter_id: int,
    offer: Offer,
    emails: Sequence[str],
    digests: Sequence[bytes],
    *,
    are_handed_over: bool,
) -> list[int]:
    """Insert an invitation for each address, in place of earlier ones from the same person; returns their ids."""
    sql = """
    with replaced as (
        delete from invitation where id in (
            select id from invitation where realm_id = $1 and inviter_id = $2
                and email_key = any($9::text[]) order by id for update
        )
    )
    insert into invitation (realm_id, inviter_id, invited_as, channel_ids, group_ids, with_defaults, tells_inviter,
        email, email_key, digest, expires, is_handed_over)
    select $1, $2, $3, $4, $5, $6, $7, email, email_key, digest, now() + make_interval(mins => $11::int), $12
    from unnest($8::text[], $9::text[], $10::bytea[]) as invited(email, email_key, digest)
    returning id
    """
    keys = [email_key_of(email) for email in emails]
    rows = await tx.fetch(
        sql, realm_id, inviter_id, *_offer(offer), emails, keys, digests, offer.minutes, are_handed_over
    )
    return [row["id"] for row in rows]


async def insert_link(tx: Transaction, realm_id: int, inviter_id: int, offer: Offer, key: str, digest: bytes) -> int:
    """Insert a link that any number of people can join by; returns its id."""
    sql = """
    insert into invitation (realm_id, inviter_id, invited_as, channel_ids, group_ids, with_defaults, tells_inviter,
        key, digest, expires)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(mins => $10::int))
    returning id
    """
    sealed = tx.sealer.seal_text(LINK_KEY, key)
    made: int = await tx.fetchval(sql, realm_id, inviter_id, *_offer(offer), sealed, digest, offer.minutes)
    return made


def _offer(offer: Offer) -> tuple[object, ...]:
    return (offer.invited_as, offer.channel_ids, offer.group_ids, offer.with_defaults, offer.tells_inviter)


# Looking after them


class Row(msgspec.Struct, frozen=True):
    """An invitation that can still be accepted."""

    id: int
    inviter_id: int
    invited: int
    expires: int | None
    invited_as: int
    tells_inviter: bool
    email: str | None
    key: str | None
    """Of a link for many; as it is stored, but in lists."""


_ROW = """
id, inviter_id, extract(epoch from created)::bigint as invited, extract(epoch from expires)::bigint as expires,
invited_as, tells_inviter, email, key
"""


async def invitations_of(reader: Reader, realm_id: int, inviter_id: int | None) -> list[Row]:
    """The good invitations of a realm, or of one person, in the order they were made."""
    sql = f"""
    select {_ROW} from invitation
    where realm_id = $1 and ($2::bigint is null or inviter_id = $2) and {_GOOD} order by id
    """
    rows = [Row(**row) for row in await reader.fetch(sql, realm_id, inviter_id)]
    return [
        row if row.key is None else msgspec.structs.replace(row, key=reader.sealer.find_text(LINK_KEY, row.key))
        for row in rows
    ]


async def lock_invitation(tx: Transaction, realm_id: int, invitation_id: int) -> Row | None:
    """A good invitation, held until the commit."""
    sql = f"select {_ROW} from invitation where realm_id = $1 and id = $2 and {_GOOD} for update"
    row = await tx.fetchrow(sql, realm_id, invitation_id)
    return Row(**row) if row else None


async def delete_invitation(tx: Transaction, invitation_id: int) -> None:
    """Take an invitation back."""
    await tx.execute("delete from invitation where id = $1", invitation_id)


async def renew(tx: Transaction, invitation_id: int, digest: bytes) -> None:
    """Another key, by mail, in place of the first. It is valid for as long as that was, from now on."""
    sql = """
    update invitation set digest = $2, expires = now() + (expires - created), created = now(), is_handed_over = false
    where id = $1
    """
    await tx.execute(sql, invitation_id, digest)


async def delete_old(tx: Transaction) -> int:
    """Delete what is no longer valid; returns how many."""
    sql = """
    with invitations as (delete from invitation where expires < now() returning 1),
    keys as (delete from signup where expires < now() returning 1),
    counts as (delete from invitation_mails where day < (now() at time zone 'UTC')::date - 1 returning 1)
    select (select count(*) from invitations) + (select count(*) from keys) + (select count(*) from counts)
    """
    return int(await tx.fetchval(sql))
