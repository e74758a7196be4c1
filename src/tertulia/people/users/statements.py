"""User records are written by PostgreSQL: the text of a record, ready to be sent, is an expression over `account`.

A list of ten thousand users costs no object per user here, and every place that shows a user shows the same keys.
The arguments of every statement made of it begin with those of a `View`: $1 the visibilities whose addresses the reader
sees, $2 the reader's own id, $3 the realm's domain of made-up addresses. The shape was measured (bench users): flags
that follow from one column are one piece of text, and what is needed twice is worked out once.
"""

from tertulia.kernel.auth import EVERYONE, Role

SEES_EMAIL = "(email_visibility(account) = any($1::int[]) or account.id = $2)"

_FLAGS = f"""case account.role
    when {Role.OWNER} then ',"is_owner":true,"is_admin":true,"is_guest":false'
    when {Role.ADMINISTRATOR} then ',"is_owner":false,"is_admin":true,"is_guest":false'
    when {Role.GUEST} then ',"is_owner":false,"is_admin":false,"is_guest":true'
    else ',"is_owner":false,"is_admin":false,"is_guest":false' end"""

_BOT = """case when account.bot_type is null then ',"is_bot":false,"bot_type":null'
    else ',"is_bot":true,"bot_type":' || account.bot_type
        || ',"bot_owner_id":' || coalesce(account.bot_owner_id::text, 'null') end"""

# As the function avatar_url has it: these rows have more columns than an account.
_AVATAR = """case when account.avatar is null then ',"avatar_url":"/avatar/' || account.id
    else ',"avatar_url":"/user_avatars/' || account.realm_id || '/' || account.avatar || '.png' end"""

_PROFILE = """case when account.bot_type is null then ',"profile_data":{' || coalesce(profile.fields, '') || '}' end"""


def record_text(*, active: bool = True, profile: bool = False, anonymous: bool = False) -> str:
    """A user record as JSON text; with `is_active`, with `profile_data`, as a reader without an account sees it."""
    joined = "YYYY-MM-DD" if anonymous else 'YYYY-MM-DD"T"HH24:MI"+00:00"'
    pieces = [
        """'{"user_id":', account.id""",
        """',"delivery_email":', case when account.is_seen then to_json(account.email)::text else 'null' end""",
        """',"email":', to_json(account.api_email)""",
        """',"full_name":', to_json(account.full_name)""",
        f"""',"date_joined":"', to_char(account.date_joined at time zone 'UTC', '{joined}'), '"'""",
        *(["""',"is_active":', account.is_active::text"""] if active else []),
        _FLAGS,
        _BOT,
        """',"role":', account.role""",
        """',"timezone":""'""" if anonymous else """',"timezone":', to_json(account.timezone)""",
        _AVATAR,
        """'?v=', account.avatar_version, '","avatar_version":', account.avatar_version""",
        """',"is_imported_stub":', account.is_imported_stub::text""",
        *([_PROFILE] if profile and not anonymous else []),
        "'}'",
    ]
    return f"concat({', '.join(pieces)})"


def people(condition: str, *, profile: bool = False) -> str:
    """What `record_text` is an expression over: the accounts of the condition, and what they say of themselves."""
    # A reader without an account sees no person's address: for them everybody but bots has a made-up one.
    accounts = f"""
    (select *, visibility = any($1::int[]) or id = $2 as is_seen,
        case when visibility <= {EVERYONE} and visibility = any($1::int[]) then email
            else 'user' || id || '@' || $3::text end as api_email
    from (select account.*, email_visibility(account) as visibility from account where {condition} offset 0) as account
    ) as account
    """
    if not profile:
        return accounts
    return f"""{accounts} left join (
        select user_id, string_agg(concat('"', field_id, '":{{"value":', to_json(value),
            ',"rendered_value":' || to_json(rendered), '}}'), ',' order by field_id) as fields
        from profile_value where user_id in (select account.id from account where {condition}) group by user_id
    ) as profile on profile.user_id = account.id
    """


def list_text(record: str, condition: str = "true") -> str:
    """The records of many accounts as the text of a JSON array."""
    return f"'[' || coalesce(string_agg({record}, ',' order by account.id) filter (where {condition}), '') || ']'"


# Whom a guest sees where guests do not see everybody (the guest is the reader): themselves, bots, and those they share
# a channel or a direct conversation with.
IS_VISIBLE = """
(account.id = $2 or account.bot_type is not null or account.id in (
    select theirs.user_id from subscription as mine join subscription as theirs using (channel_id)
    where mine.user_id = $2 and mine.is_active and theirs.is_active
    union all
    select unnest(conversation.participants) from read_state
    join conversation on conversation.id = read_state.conversation_id
    where read_state.user_id = $2 and conversation.participants is not null
))
"""


def limited(realm: str) -> str:
    """The condition that guests of a realm do not see everybody."""
    return f"""
    exists (select from realm_permission join user_group on user_group.id = realm_permission.group_id
        where realm_permission.realm_id = {realm} and setting = 'can_access_all_users_group'
            and user_group.name = 'role:members')
    """


def is_public(realm: str) -> str:
    """The condition that somebody without an account sees an account of the realm: a bot, or, where guests do not see everybody,
    who is in a channel that is open to the web. That is no more than a guest of these channels sees."""
    return f"""
    (account.bot_type is not null or not {limited(realm)} or exists (
        select from subscription join channel on channel.id = subscription.channel_id
        where subscription.user_id = account.id and subscription.is_active and channel.is_web_public and not channel.is_archived
    ))
    """


IS_PUBLIC = is_public("account.realm_id")
LIMITED = limited("$1")
"""The realm is $1."""


def is_hidden(reader: str, person: str) -> str:
    """The condition that one account (the name of its row) does not see another."""
    return f"""
    ({reader}.role = {Role.GUEST} and {reader}.id <> {person}.id and {person}.bot_type is null and {limited(f"{reader}.realm_id")}
        and not {shares(f"{reader}.id", f"{person}.id")})
    """


def shares(guest: str, person: str) -> str:
    """The condition that two people share a channel or a direct conversation."""
    return f"""
    (exists (select from subscription as mine join subscription as theirs using (channel_id)
        where mine.user_id = {guest} and mine.is_active and theirs.user_id = {person} and theirs.is_active)
    or {shares_talk(guest, person)})
    """


def shares_talk(guest: str, person: str, besides: str = "0") -> str:
    """The condition that two people share a direct conversation other than one."""
    return f"""
    exists (select from read_state join conversation on conversation.id = read_state.conversation_id
        where read_state.user_id = {guest} and {person} = any(conversation.participants)
            and conversation.id <> {besides})
    """


# Guests and people who came into one channel or are apart now, unless they shared something before, or share it still.
TOGETHER = {
    joined: f"""
    with changed as (
        select user_id, channel_id from unnest($1::bigint[], $2::bigint[]) as changed(user_id, channel_id)
    ), inside as (
        select subscription.user_id, subscription.channel_id from subscription
        where subscription.channel_id in (select channel_id from changed) and subscription.is_active
        union
        select user_id, channel_id from changed
    ), pair as (
        select guest.id as guest_id, person.user_id as person_id
        from changed join account as guest on guest.id = changed.user_id and guest.role = {
        Role.GUEST
    } and guest.is_active
        join inside as person on person.channel_id = changed.channel_id
        union
        select guest.id, changed.user_id
        from changed join inside on inside.channel_id = changed.channel_id
        join account as guest on guest.id = inside.user_id and guest.role = {Role.GUEST} and guest.is_active
    )
    select guest_id, person_id from pair join account on account.id = person_id
    where guest_id <> person_id and account.bot_type is null and not {
        f'''(exists (
            select from subscription as mine join subscription as theirs using (channel_id)
            where mine.user_id = guest_id and mine.is_active and theirs.user_id = person_id and theirs.is_active
                and not exists (select from changed
                    where changed.channel_id = mine.channel_id and changed.user_id in (guest_id, person_id))
        ) or {shares_talk("guest_id", "person_id")})'''
        if joined
        else shares("guest_id", "person_id")
    }
    order by person_id, guest_id
    """
    for joined in (True, False)
}
MET = f"""
with inside as (select unnest(participants) as user_id from conversation where id = $1)
select guest.id as guest_id, person.id as person_id
from inside join account as guest on guest.id = inside.user_id and guest.role = {Role.GUEST} and guest.is_active
join account as person on person.id in (select user_id from inside) and person.id <> guest.id and person.bot_type is null
where not exists (select from subscription as mine join subscription as theirs using (channel_id)
        where mine.user_id = guest.id and mine.is_active and theirs.user_id = person.id and theirs.is_active)
    and not {shares_talk("guest.id", "person.id", "$1")}
order by person.id, guest.id
"""
