"""SQL of the users feature: one statement per function."""

from collections.abc import Collection, Sequence

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.locking import lock_all
from tertulia.kernel.text import LARGE_LETTERS, SMALL_LETTERS
from tertulia.people.users.addresses import ALWAYS, EVERYONE, email_key_of
from tertulia.people.users.model import Account, UserView
from tertulia.people.users.rules import name_key_of
from tertulia.people.users.statements import (
    IS_PUBLIC,
    IS_VISIBLE,
    LIMITED,
    SEES_EMAIL,
    list_text,
    people,
    record_text,
    shares,
)

# Showing users

_REALM = "account.realm_id = $4 and account.system_bot is null"
_LISTS = {
    (profile, anonymous): f"""
    select convert_to({list_text(record_text(profile=profile, anonymous=anonymous))}, 'UTF8'),
           (select users_version from realm where id = $4) as version
    from {people(_REALM, profile=profile)}
    """
    for profile in (False, True)
    for anonymous in (False, True)
}
_THESE = f"{_REALM} and ($5::bigint[] is null or account.id = any($5))"
_SOME = {
    (profile, limited): f"""
    select convert_to({list_text(record_text(profile=profile))}, 'UTF8')
    from {people(f"{_THESE} and {IS_VISIBLE}" if limited else _THESE, profile=profile)}
    """
    for profile in (False, True)
    for limited in (False, True)
}
_SOME_ANONYMOUS = f"""
select convert_to({list_text(record_text(anonymous=True))}, 'UTF8') from {people(f"{_THESE} and {IS_PUBLIC}")}
"""
_STATE_RECORD = record_text(active=False, profile=True)
_STATE = {
    limited: f"""
    select convert_to({list_text(_STATE_RECORD, "account.is_active")}, 'UTF8'),
           convert_to({list_text(_STATE_RECORD, "not account.is_active")}, 'UTF8'),
           (select users_version from realm where id = $4) as version
    from {people(f"{_REALM} and {IS_VISIBLE}" if limited else _REALM, profile=True)}
    """
    for limited in (False, True)
}
_PUBLIC_RECORD = record_text(active=False, anonymous=True)
_PUBLIC_STATE = f"""
select convert_to({list_text(_PUBLIC_RECORD, "account.is_active")}, 'UTF8'),
       convert_to({list_text(_PUBLIC_RECORD, "not account.is_active")}, 'UTF8')
from {people(f"{_REALM} and {IS_PUBLIC}")}
"""
_ONE = {
    (profile, limited): f"""
    select case when {IS_VISIBLE if limited else "true"} then convert_to({record_text(profile=profile)}, 'UTF8') else '' end
    from {people(f"{_REALM} and account.id = $5", profile=profile)}
    """
    for profile in (False, True)
    for limited in (False, True)
}
_SYSTEM_BOT = f"rtrim({record_text(active=False)}, '}}') || ',\"is_system_bot\":true}}'"
_SYSTEM_BOTS = f"""
select convert_to({list_text(_SYSTEM_BOT)}, 'UTF8')
from {people("account.realm_id = $4 and account.system_bot is not null")}
"""
_PERSONS = f"""
select account.id, subdomain, account.is_active, account.visibility as email_visibility,
    convert_to({_STATE_RECORD}, 'UTF8') as hidden
from {people("account.id = any($4::bigint[])", profile=True)} join realm on realm.id = account.realm_id
order by account.id
"""


async def users_version(reader: Reader, realm_id: int) -> int:
    """The number of the last change of the realm's users."""
    return int(await reader.fetchval("select users_version from realm where id = $1", realm_id))


async def users_versions(reader: Reader, realm_ids: Sequence[int]) -> dict[int, int]:
    """As `users_version`, of several realms."""
    rows = await reader.fetch("select id, users_version from realm where id = any($1::bigint[])", realm_ids)
    return {row["id"]: row["users_version"] for row in rows}


async def all_users(reader: Reader, view: UserView, *, profile: bool) -> tuple[bytes, int]:
    """Everybody in the realm, bots and deactivated users too, as a JSON array; and the number of the last change."""
    row = await reader.fetchrow(_LISTS[profile, view.is_anonymous], *view.arguments, view.realm_id)
    assert row is not None
    return row[0], row[1]


async def some_users(
    reader: Reader, view: UserView, ids: Sequence[int] | None, *, profile: bool = False, limited: bool = False
) -> bytes:
    """The users with these ids, or all of them, as far as the reader sees them."""
    if view.is_anonymous:
        return bytes(await reader.fetchval(_SOME_ANONYMOUS, *view.arguments, view.realm_id, ids))
    return bytes(await reader.fetchval(_SOME[profile, limited], *view.arguments, view.realm_id, ids))


async def users_for_state(reader: Reader, view: UserView, *, limited: bool = False) -> tuple[bytes, bytes, int]:
    """The active and the deactivated users as POST /register lists them; and the number of the last change."""
    row = await reader.fetchrow(_STATE[limited], *view.arguments, view.realm_id)
    assert row is not None
    return row[0], row[1], row[2]


async def limits_guests(reader: Reader, realm_id: int) -> bool:
    """Whether guests of the organization see only some of the users."""
    return bool(await reader.fetchval(f"select {LIMITED}", realm_id))


async def hidden_users(reader: Reader, view: UserView) -> list[int]:
    """Whom a guest does not see where guests do not see everybody."""
    sql = f"""
    select account.id from account
    where {_REALM} and not {IS_VISIBLE} and $1::int[] is not null and $3::text is not null order by account.id
    """
    return [row["id"] for row in await reader.fetch(sql, *view.arguments, view.realm_id)]


async def users_for_public(reader: Reader, view: UserView) -> tuple[bytes, bytes]:
    """As `users_for_state`, for a reader without an account."""
    row = await reader.fetchrow(_PUBLIC_STATE, *view.arguments, view.realm_id)
    assert row is not None
    return row[0], row[1]


async def system_bots(reader: Reader, view: UserView) -> bytes:
    """The accounts of the server itself, as a JSON array."""
    return bytes(await reader.fetchval(_SYSTEM_BOTS, *view.arguments, view.realm_id))


async def find_user_text(reader: Reader, view: UserView, user_id: int, *, profile: bool, limited: bool) -> bytes | None:
    """One user of the reader's realm; None if there is none, b"" for one the reader does not see."""
    found: bytes | None = await reader.fetchval(_ONE[profile, limited], *view.arguments, view.realm_id, user_id)
    return found


async def find_user_id(reader: Reader, view: UserView, email_key: str, fake_id: int | None) -> int | None:
    """The user with an address that the reader sees, or whose made-up address was given."""
    sql = f"""
    select id from account where realm_id = $4 and ((email_key = $5 and {SEES_EMAIL}) or id = $6)
    and $3::text is not null order by id = $6 limit 1
    """
    found: int | None = await reader.fetchval(sql, *view.arguments, view.realm_id, email_key, fake_id)
    return found


# Changing users

_ACCOUNT = """
id, email, full_name, role, bot_type, bot_owner_id, is_active,
email_visibility(account), bot_role
"""


_HELD = f"""
select {_ACCOUNT} from account
where realm_id = $1 and system_bot is null and (id = any($2::bigint[]) or bot_owner_id = $4
    or id = (select tied.bot_owner_id from account as tied where tied.id = $4)
    or ($3 and role = {Role.OWNER} and bot_type is null and is_active))
order by id for no key update
"""
# The one that changes and its bots are then held against everybody who counts on their standing.
_ALONE = """
select from account where realm_id = $1 and system_bot is null and (id = $2 or bot_owner_id = $2) order by id for update
"""


async def lock_accounts(
    tx: Transaction,
    realm_id: int,
    user_ids: Sequence[int],
    *,
    owners: bool = False,
    tied_to: int | None = None,
    changes_standing: bool = False,
) -> dict[int, Account]:
    """Hold these accounts, the active owners of the organization, and what is tied to one: its bots, or its own owner.

    In the order of their ids: nobody waits in a circle. `changes_standing`: the one that the others are tied to is about to
    be turned on or off, or gets another role or owner. Whoever counts on that holds the account `for key share` only, so that
    logging in and settings go on meanwhile. Messages on their way hold it like that too, in no order: this gives way to them.
    """
    held: dict[int, Account] = {}

    async def hold() -> None:
        rows = await tx.fetch(_HELD, realm_id, user_ids, owners, tied_to)
        held.clear()
        held.update({row["id"]: Account(**row) for row in rows})

    # Otherwise no stronger: rows that only point at an account must neither wait for this nor hold it up.
    if not changes_standing:
        await hold()
        return held
    while True:
        await lock_all(tx, _ALONE, realm_id, tied_to, first=hold)
        known = set(held)
        await hold()
        # Whoever was held when this began may have been given a bot meanwhile, which the statement that waited does not see.
        if held.keys() <= known:
            return held


async def bots_of(reader: Reader, owner_id: int) -> list[Account]:
    """A person's bots as they are now, switched off or not."""
    sql = f"select {_ACCOUNT} from account where bot_owner_id = $1 order by id"
    return [Account(**row) for row in await reader.fetch(sql, owner_id)]


async def find_account(reader: Reader, user_id: int | None) -> Account | None:
    """An account as it is now, not held."""
    row = await reader.fetchrow(f"select {_ACCOUNT} from account where id = $1", user_id)
    return Account(**row) if row else None


async def subdomain_of(reader: Reader, realm_id: int) -> str:
    """Where a realm is."""
    return str(await reader.fetchval("select subdomain from realm where id = $1", realm_id))


async def owner_id_of(reader: Reader, bot_id: int) -> int | None:
    """Who owns a bot; None for people."""
    found: int | None = await reader.fetchval("select bot_owner_id from account where id = $1", bot_id)
    return found


async def insert_user(
    tx: Transaction,
    realm_id: int,
    email: str,
    full_name: str,
    role: int,
    bot: tuple[int | None, int | None],
    password: str | None,
    language: str | None = None,
) -> int:
    """Insert an account; returns its id. `bot` is its type and owner. People begin with the organization's defaults.

    In the language they asked for, else that of the defaults, else the organization's. They have agreed to nothing.
    """
    sql = """
    insert into account (realm_id, email, email_key, full_name, role, bot_type, bot_owner_id, password_hash, settings)
    select $1, $2, $3, $4, $5, $6, $7, $8, case when $6::smallint is null
        then jsonb_strip_nulls(jsonb_build_object('default_language', settings -> 'default_language'))
            || (user_defaults - 'allow_private_data_export')
            || jsonb_strip_nulls(jsonb_build_object('default_language', $9::text)) else '{}' end
    from realm where id = $1 returning id
    """
    return int(await tx.fetchval(sql, realm_id, email, email_key_of(email), full_name, role, *bot, password, language))


async def hold_active_account(tx: Transaction, user_id: int) -> bool:
    """Whether the account is active; nobody else changes it, or what is counted for it, until the commit."""
    return bool(await tx.fetchval("select is_active from account where id = $1 for no key update", user_id))


async def administrators(reader: Reader, realm_id: int) -> list[int]:
    """The active administrators and owners of a realm."""
    sql = f"select id from account where realm_id = $1 and role <= {Role.ADMINISTRATOR} and is_active and bot_type is null"
    return [row["id"] for row in await reader.fetch(sql, realm_id)]


async def revoke_invitations(tx: Transaction, inviter_ids: Sequence[int]) -> list[int]:
    """Take back what these people have invited others with; returns who had."""
    sql = """
    delete from invitation where id in (
        select id from invitation where inviter_id = any($1::bigint[]) order by id for update
    ) returning inviter_id
    """
    return sorted({row["inviter_id"] for row in await tx.fetch(sql, inviter_ids)})


async def has_namesake(reader: Reader, realm_id: int, name: str, user_id: int | None) -> bool:
    """Whether an active account but this one has that name, or one that is drawn like it with letters of other alphabets.

    Both comparisons count: a large letter may look like one of another alphabet when the small one does not.
    """
    sql = """
    select exists (select from account where realm_id = $1 and is_active and id is distinct from $4 and (
        lower(normalize(full_name, nfkc)) = $3
        or translate(lower(translate(normalize(full_name, nfkc), $5, $6)), $7, $8)
            = translate(lower(translate(normalize($2::text, nfkc), $5, $6)), $7, $8)))
    """
    letters = (*LARGE_LETTERS, *SMALL_LETTERS)
    return bool(await reader.fetchval(sql, realm_id, name, name_key_of(name), user_id, *letters))


async def has_other_people(reader: Reader, realm_id: int, user_id: int) -> bool:
    """Whether there is an active person besides this one."""
    sql = "select exists (select from account where realm_id = $1 and is_active and bot_type is null and id <> $2)"
    return bool(await reader.fetchval(sql, realm_id, user_id))


async def update_user(tx: Transaction, user_id: int, full_name: str, role: int) -> None:
    """Write a name and a role. A bot is given the role; what it counts as follows (`bot_counts_as`).

    Whose role becomes another is held alone (`changes_standing`)."""
    # Without the address: where a trigger runs, PostgreSQL holds a row against all that point at it as soon as a unique
    # column is among those that are set, even to what it was. Whoever sends a message at the same time would deadlock.
    sql = """
    update account set full_name = $2,
        role = case when bot_type is null then $3 else role end, bot_role = case when bot_type is not null then $3 end
    where id = $1
    """
    await tx.execute(sql, user_id, full_name, role)


async def set_email(tx: Transaction, user_id: int, email: str) -> None:
    """Write a new address. Whoever reads mail at the old one cannot answer any more."""
    sql = """
    with answers as (delete from reply_address where user_id = $1)
    update account set email = $2, email_key = $3 where id = $1
    """
    await tx.execute(sql, user_id, email, email_key_of(email))


async def set_active(tx: Transaction, user_ids: Sequence[int], *, active: bool) -> None:
    """Activate or deactivate accounts that are held alone (`changes_standing`)."""
    await tx.execute("update account set is_active = $2 where id = any($1::bigint[])", user_ids, active)


async def set_bot_owner(tx: Transaction, bot_id: int, owner_id: int) -> int:
    """Give a bot, held alone, to somebody: it never becomes more by that. Returns what it counts as from now on."""
    sql = "update account set bot_owner_id = $2, bot_role = greatest(bot_role, role) where id = $1 returning role"
    return int(await tx.fetchval(sql, bot_id, owner_id))


class Subscribers(msgspec.Struct, frozen=True):
    """Accounts that come to or leave a channel's list of subscribers because they are turned on or off."""

    channel_id: int
    invite_only: bool
    user_ids: tuple[int, ...]


async def count_subscribers(tx: Transaction, user_ids: Sequence[int], sign: int) -> list[Subscribers]:
    """Add these accounts to the numbers of subscribers of their channels, or take them off."""
    sql = """
    update channel set subscriber_count = subscriber_count + $2 * cardinality(held.user_ids)
    from (
        select channel.id, theirs.user_ids from channel join (
            select channel_id, array_agg(user_id order by user_id) as user_ids from subscription
            where user_id = any($1::bigint[]) and is_active group by channel_id
        ) as theirs on theirs.channel_id = channel.id
        order by channel.id for no key update of channel
    ) as held
    where channel.id = held.id returning channel.id, channel.invite_only, held.user_ids
    """
    rows = await tx.fetch(sql, user_ids, sign)
    found = [Subscribers(row["id"], row["invite_only"], tuple(row["user_ids"])) for row in rows]
    return sorted(found, key=lambda one: one.channel_id)


class UserSnapshot(msgspec.Struct, frozen=True):
    """A user as an event tells of them, to those who see their address and (if there are such) to those who do not.

    Made-up addresses in it end with the @: where they seem to be is known to whoever shows the event.
    """

    id: int
    subdomain: str
    is_active: bool
    email_visibility: int
    hidden: bytes
    seen: bytes = b""
    """Empty: the same as the other."""


async def get_person(reader: Reader, user_id: int) -> UserSnapshot:
    """The record of a user who exists, in both forms."""
    [hidden] = await _persons(reader, [user_id], -1)
    if hidden.email_visibility <= EVERYONE:
        return hidden
    [seen] = await _persons(reader, [user_id], user_id)
    return msgspec.structs.replace(hidden, seen=seen.hidden)


async def persons_for_guests(reader: Reader, user_ids: Sequence[int]) -> list[UserSnapshot]:
    """The records of users as guests see them."""
    return await _persons(reader, user_ids, -1) if user_ids else []


async def _persons(reader: Reader, user_ids: Sequence[int], reader_id: int) -> list[UserSnapshot]:
    rows = await reader.fetch(_PERSONS, [ALWAYS, EVERYONE], reader_id, "", user_ids)
    return [UserSnapshot(**row) for row in rows]


async def limited_guests(reader: Reader, realm_id: int, user_id: int) -> tuple[int, ...] | None:
    """Which guests see this user; None where guests see everybody."""
    sql = f"""
    select array(
        select guest.id from account as guest
        where guest.realm_id = $1 and guest.role = {Role.GUEST}
            and (guest.id = $2 or (guest.is_active and {shares("guest.id", "$2")}))
    ) as ids
    where {LIMITED} and exists (select from account where id = $2 and bot_type is null)
    """
    ids = await reader.fetchval(sql, realm_id, user_id)
    return None if ids is None else tuple(ids)


# Guests who do not see everybody

VISIBILITY_LOCK = 6
"""Class of the advisory lock; the realm is its key."""


async def lock_visibility(tx: Transaction, realm_id: int) -> bool:
    """Whether guests are limited here; if so, wait until every other change of whom they see has been committed."""
    # The statement's own view of the data is older than the lock: what needs it is asked in later statements.
    sql = f"select pg_advisory_xact_lock({VISIBILITY_LOCK}, $1::bigint::int) where {LIMITED}"
    return await tx.fetchrow(sql, realm_id) is not None


async def hold_visibility(tx: Transaction, realm_id: int, user_id: int) -> bool:
    """Whether guests may not see this user; if so, whoever sees them now does until the commit, and nobody else."""
    sql = f"""
    select pg_advisory_xact_lock_shared({VISIBILITY_LOCK}, $1::bigint::int)
    where {LIMITED} and exists (select from account where id = $2 and bot_type is null)
    """
    return await tx.fetchrow(sql, realm_id, user_id) is not None


async def hidden_from_guest(reader: Reader, realm_id: int, guest_id: int, user_ids: Collection[int]) -> frozenset[int]:
    """Which of these users a guest does not see, or (`guest_id` 0) somebody without an account."""
    seen = IS_VISIBLE if guest_id else f"{IS_PUBLIC} and $2 = 0"
    sql = f"""
    select id from account where realm_id = $1 and id = any($3::bigint[]) and {LIMITED} and not ({seen})
    """
    return frozenset(row["id"] for row in await reader.fetch(sql, realm_id, guest_id, list(user_ids)))


async def guests_missing(reader: Reader, realm_id: int, channel_id: int, sender_id: int) -> tuple[int, ...]:
    """The guests in a channel who do not see somebody: to them a message event shows an unknown user."""
    sql = f"""
    select guest.id from account as guest join subscription on subscription.user_id = guest.id
    where subscription.channel_id = $2 and subscription.is_active and guest.realm_id = $1 and guest.role = {Role.GUEST}
        and guest.is_active and {LIMITED} and guest.id <> $3 and not {shares("guest.id", "$3")}
        and not exists (select from account where id = $3 and bot_type is not null)
    order by guest.id
    """
    return tuple(row["id"] for row in await reader.fetch(sql, realm_id, channel_id, sender_id))


LAST = 50
"""So many of the newest messages of all are looked at: most often one of them is the person's."""
# Of the messages sent there, those with higher numbers have higher ids: each time of belonging to a conversation has one
# newest. Those that came from another channel are looked up by their ids.
_NEWEST = f"""
with mine as materialized (
    select conversation_id, history from read_state where user_id = $1 and not isempty(history)
)
select coalesce((
    select max(last.id) from (select id, conversation_id, seq from message order by id desc limit {LAST}) as last
    join read_state on read_state.conversation_id = last.conversation_id and read_state.user_id = $1 and last.seq <@ history
), greatest(
    (
        select max(sent.id) from mine, unnest(mine.history) as part, lateral (
            select id from message
            where message.conversation_id = mine.conversation_id and not arrived and seq >= lower(part)
                and seq < coalesce(upper(part), 9223372036854775807)
            order by seq desc limit 1
        ) as sent
    ), (
        select max(came.id) from mine, lateral (
            select id from message
            where message.conversation_id = mine.conversation_id and arrived and seq <@ mine.history
            order by id desc limit 1
        ) as came
    )
))
"""


async def newest_message_id(reader: Reader, user_id: int) -> int:
    """The newest message the user has received, wherever that was; -1 if there is none."""
    found = await reader.fetchval(_NEWEST, user_id)
    return -1 if found is None else int(found)
