"""User records are written by PostgreSQL: the text of a record, ready to be sent, is an expression over `account`.

A list of ten thousand users costs no object per user here, and every place that shows a user shows the same keys.
The arguments of every statement made of it begin with those of a `View`: $1 the visibilities whose addresses the reader
sees, $2 the reader's own id, $3 the realm's domain of made-up addresses.
"""

SEES_EMAIL = "(email_visibility(account) = any($1::int[]) or account.id = $2)"

# A reader without an account sees no person's address: for them everybody but bots has a made-up one.
API_EMAIL = """
case when email_visibility(account) = any($1::int[]) then api_email(account, $3::text)
    else 'user' || account.id || '@' || $3::text end
"""

_BOT_OWNER = """
case when account.bot_type is not null then ',"bot_owner_id":' || coalesce(account.bot_owner_id::text, 'null') end
"""

_PROFILE = """
case when account.bot_type is null then ',"profile_data":{' || coalesce((
    select string_agg(concat('"', field_id, '":{"value":', to_json(value),
        ',"rendered_value":' || to_json(rendered), '}'), ',' order by field_id)
    from profile_value where profile_value.user_id = account.id), '') || '}' end
"""


def record_text(*, active: bool = True, profile: bool = False, anonymous: bool = False) -> str:
    """A user record as JSON text; with `is_active`, with `profile_data`, as a reader without an account sees it."""
    joined = "YYYY-MM-DD" if anonymous else 'YYYY-MM-DD"T"HH24:MI"+00:00"'
    pieces = [
        """'{"user_id":', account.id""",
        _key("delivery_email", f"case when {SEES_EMAIL} then to_json(account.email)::text else 'null' end"),
        _key("email", f"to_json({API_EMAIL})"),
        _key("full_name", "to_json(account.full_name)"),
        _key("date_joined", f"'\"', to_char(account.date_joined at time zone 'UTC', '{joined}'), '\"'"),
        *([_key("is_active", "account.is_active::text")] if active else []),
        _key("is_owner", "(account.role = 100)::text"),
        _key("is_admin", "(account.role <= 200)::text"),
        _key("is_guest", "(account.role = 600)::text"),
        _key("is_bot", "(account.bot_type is not null)::text"),
        _key("bot_type", "coalesce(account.bot_type::text, 'null')"),
        _BOT_OWNER,
        _key("role", "account.role"),
        *([] if anonymous else [_key("timezone", "to_json(account.timezone)")]),
        _key("avatar_url", "'\"/avatar/', account.id, '?v=', account.avatar_version, '\"'"),
        _key("avatar_version", "account.avatar_version"),
        _key("is_imported_stub", "account.is_imported_stub::text"),
        *([_PROFILE] if profile and not anonymous else []),
        "'}'",
    ]
    return f"concat({', '.join(pieces)})"


def _key(name: str, value: str) -> str:
    return f"""',"{name}":', {value}"""


def list_text(record: str, condition: str = "true") -> str:
    """The records of many accounts as the text of a JSON array."""
    return f"'[' || coalesce(string_agg({record}, ',' order by account.id) filter (where {condition}), '') || ']'"


# Whom a guest sees where guests do not see everybody ($4: the realm; the guest is the reader): themselves, bots, and
# those they share a channel or a direct conversation with.
IN_SIGHT = """
(account.id = $2 or account.bot_type is not null or account.id in (
    select theirs.user_id from subscription as mine join subscription as theirs using (channel_id)
    where mine.user_id = $2 and mine.is_active and theirs.is_active
    union all
    select unnest(conversation.participants) from read_state
    join conversation on conversation.id = read_state.conversation_id
    where read_state.user_id = $2 and conversation.participants is not null
))
"""
