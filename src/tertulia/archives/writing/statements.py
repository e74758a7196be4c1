"""The lines of each kind, made by PostgreSQL: one statement per kind, each with a column `line`.

Their parameters: $1 the realm, $2 the conversations that are allowed and $3 which of their numbers, $4 the people whose
private data is, $5 those who are known at all, $6 single messages. Null stands for all. Lists are arrays of json: json_agg would
break its lines.
"""

from tertulia.conversations.read_state.marks import Mark, TopicPolicy
from tertulia.kernel.auth import EVERYONE
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH

_OPEN = "($2::bigint[] is null or {0} = any($2))"
_OWN = "($4::bigint[] is null or {0} = any($4))"
_PERMISSIONS = r"""
(select coalesce(jsonb_object_agg(key, value), '{{}}') from jsonb_each(to_jsonb({0}))
    where key like 'can\_%\_group' and value <> 'null') as permissions
"""
_MARKS = " ".join(f"when {mark:d} then '{mark.name.lower()}'" for mark in Mark)
_POLICIES = " ".join(f"when {policy:d} then '{policy.name.lower()}'" for policy in TopicPolicy if policy)
_ALLOWED = "unnest($2::bigint[], $3::text[]::int8multirange[]) as allowed(id, numbers)"


PARAMETERS = "with asked as (select $1::bigint, $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) "
"""Before each statement: it gives a type to those that it does not name."""


def is_open(column: str) -> str:
    """Whether a conversation is allowed."""
    return _OPEN.format(column)


def is_own(column: str) -> str:
    """Whether somebody's private data is."""
    return _OWN.format(column)


def text_in(column: str) -> str:
    """A text as long as texts may be. Names and ids in it may have become longer since it was sent, and nobody reads an archive
    with one that is too long."""
    return f"left({column}, {MAX_MESSAGE_LENGTH})"


MOST_FORMER_BYTES = 4 * 1024 * 1024
"""Of a message's former texts the newest leave, up to so many bytes of its line: together they may be longer than any line that
is read, and nobody would read the archive."""
MOST_RANGES, FEW_BYTES = 400_000, 262_144
"""Of what somebody has read in a conversation so many ranges leave. What takes fewer bytes in the database has fewer."""
MOST_HIDDEN_BYTES = 1024 * 1024
"""The same of addresses whose previews were taken away: there are as many as the texts that a message had."""


def _bytes_so_far(text: str, order: str) -> str:
    """Of a line, with all rows of the query that come before."""
    return f"sum(octet_length(to_json({text})::text)) over (order by {order})"


def _shown(what: str) -> str:
    """Whether the organization shows this much of how messages were changed: `texts`, or `moves`. All of it leaves with all."""
    policies = "('all')" if what == "texts" else "('all', 'moves')"
    return f"""
    ($2::bigint[] is null or (select coalesce(settings->>'message_edit_history_visibility_policy', 'all')
        from realm where realm.id = $1) in {policies})
    """


def _moved(was: str, now: str) -> str:
    """From which channel into which; said only if both may be known."""
    both = f"{is_open(was)} and {is_open(now)}"
    return f"case when {both} then {was} end as channel_id, case when {both} then {now} end as new_channel_id"


def _ranges(column: str) -> str:
    """As pairs; an open end is null."""
    return f"{_pairs(f'unnest({column}) as part')} as {column}"


def _pairs(parts: str, ordered: str = "") -> str:
    return f"array(select json_build_array(coalesce(lower(part), 0), upper(part)) from {parts} {ordered})"


def _newest_ranges(column: str) -> str:
    """The same; of very many the newest, since all of somebody's are one line. What is left out is unread."""
    newest = f"(select part from unnest({column}) as part order by part desc limit {MOST_RANGES}) as newest"
    return f"""
    case when pg_column_size({column}) < {FEW_BYTES} then {_pairs(f"unnest({column}) as part")}
        else {_pairs(newest, "order by part")} end as {column}
    """


def lines(query: str) -> str:
    """A line of each row."""
    return f"select row_to_json(found)::text as line from ({query}) as found"


ORGANIZATION = lines(r"""
select id, subdomain, name, description, date_created as created,
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(settings) where key not like '\_%') as settings,
    user_defaults,
    (select coalesce(jsonb_object_agg(setting, group_id), '{}') from realm_permission where realm_id = realm.id)
        as permissions,
    array(select json_build_object('domain', domain, 'allow_subdomains', allow_subdomains)
        from realm_domain where realm_id = realm.id order by id) as domains
from realm where id = $1
""")
"""Settings that begin with a low line are the program's own notes and keys."""
REALM_PICTURES = "select kind, name from realm_picture where realm_id = $1 and name is not null order by kind"

# Of groups without a name only those that a setting of something in the archive is the value of.
GROUPS = lines(rf"""
select id, name, description, is_deactivated, creator_id, date_created as created,
    array(select user_id from group_member where group_id = user_group.id order by user_id) as members,
    array(select subgroup_id from group_subgroup where group_id = user_group.id order by subgroup_id) as subgroups,
    {_PERMISSIONS.format("user_group")}
from user_group where realm_id = $1 and (name is not null or $2 is null or id in (
    select value::bigint from channel, jsonb_each_text(to_jsonb(channel))
    where realm_id = $1 and {is_open("channel.id")} and key like 'can\_%\_group' and value is not null
    union all select group_id from realm_permission where realm_id = $1
    union all select value::bigint from user_group as named, jsonb_each_text(to_jsonb(named))
    where realm_id = $1 and named.name is not null and key like 'can\_%\_group' and value is not null
)) order by id
""")
PROFILE_FIELDS = lines("""
select id, type, name, hint, field_data, position, display_in_profile_summary, required, editable_by_user,
    use_for_user_matching
from profile_field where realm_id = $1 order by id
""")
_BOT = f"""
case when bot_type is not null then (
    select row_to_json(bot) from (
        select bot_type as type, bot_role as role, bot_owner_id as owner_id, system_bot as system,
            base_url as url, interface, coalesce(all_public_channels, false) as all_public_channels,
            case when {is_open("sending_channel_id")} then sending_channel_id end as sending_channel_id,
            case when {is_open("register_channel_id")} then register_channel_id end as register_channel_id
        from (select) as one left join bot_default on bot_default.user_id = account.id
        left join bot_service on bot_service.user_id = account.id and {is_own("account.id")}
    ) as bot
) end as bot
"""
_PRIVATE = f"""
case when {is_own("id")} then (
    select row_to_json(private) from (
        select account.settings,
            array(select json_build_object('user_id', muted_id, 'at', muted_at)
                from muted_user where user_id = account.id order by muted_id) as muted,
            array(select word from alert_word where user_id = account.id order by word_key) as alert_words
    ) as private
) end as private
"""
PEOPLE = f"""
select outside.id, outside.avatar, row_to_json(found)::text as line from account as outside, lateral (
    select id, case when {is_own("id")} or email_visibility(account) <= {EVERYONE} then email end as email, full_name,
        case when bot_type is null then role else bot_role end as role, is_active, is_imported_stub,
        date_joined as joined, timezone,
        (select json_build_object('text', status_text, 'emoji_name', emoji_name, 'emoji_code', emoji_code,
            'reaction_type', reaction_type) from user_status where user_id = account.id) as status,
        array(select json_build_object('field_id', field_id, 'value', value)
            from profile_value where user_id = account.id order by field_id) as profile,
        {_BOT}, {_PRIVATE}
    from account where id = outside.id
) as found
where realm_id = $1 and ($5::bigint[] is null or outside.id = any($4)) order by outside.id
"""
EMOJI = """
select id, file_name, moves, row_to_json(found)::text as line from (
    select id, name, author_id, is_deactivated, date_created as created from custom_emoji
) as found join custom_emoji using (id)
where realm_id = $1 and ($5::bigint[] is null or custom_emoji.author_id = any($4)) order by id
"""
LINKIFIERS = lines("""
select id, pattern, url_template, example_input, reverse_template, alternative_url_templates, position
from linkifier where realm_id = $1 order by id
""")
PLAYGROUNDS = lines("select id, name, pygments_language, url_template from playground where realm_id = $1 order by id")
FOLDERS = lines("""
select id, name, description, position, creator_id, date_created as created, is_archived
from channel_folder where realm_id = $1 order by id
""")
CHANNELS = lines(f"""
select id, name, description, invite_only as is_private, is_web_public, history_public_to_subscribers, is_archived,
    exists (select from default_channel where channel_id = channel.id) as is_default, creator_id,
    date_created as created, message_retention_days, topics_policy, folder_id,
    (select last_seq from conversation where conversation.id = channel.id) as last_number,
    {_PERMISSIONS.format("channel")}
from channel where realm_id = $1 and {is_open("id")} order by id
""")
DIRECTS = lines(f"""
select id, participants, last_seq as last_number
from conversation where realm_id = $1 and participants is not null and {is_open("id")} order by id
""")
_READABLE_TOPIC = f"""
case when $6::bigint[] is not null then exists (select from message where topic_id = topic.id and message.id = any($6))
    else $2::bigint[] is null or exists (
        select from {_ALLOWED} where allowed.id = conversation_id
            and (numbers is null or exists (select from message where topic_id = topic.id and seq <@ numbers))
    ) end
"""
TOPICS = lines(f"""
select topic.id, conversation_id as channel_id, topic.name, last_seq as last_number,
    array(select user_id from topic_participant where topic_id = topic.id order by user_id) as participants
from topic join channel on channel.id = conversation_id where realm_id = $1 and {_READABLE_TOPIC}
order by conversation_id, topic.id
""")
SUBSCRIPTIONS = lines(f"""
select channel_id, user_id, is_active, case when {is_own("user_id")} then json_build_object(
    'color', color, 'is_muted', is_muted, 'pin_to_top', pin_to_top, 'desktop_notifications', desktop_notifications,
    'audible_notifications', audible_notifications, 'push_notifications', push_notifications,
    'email_notifications', email_notifications, 'wildcard_mentions_notify', wildcard_mentions_notify
) end as choices
from subscription join channel on channel.id = channel_id where realm_id = $1 and {is_open("channel_id")}
order by channel_id, user_id
""")
# Most are in conversations that leave whole, which are listed once. Single messages are looked up in a hash table: what somebody
# wrote is scattered among what others did, and as ranges all of it would be gone through for each message.
READABLE = f"""
case when $6::bigint[] is not null then message.id = any($6)
    else $2::bigint[] is null
    or message.conversation_id = any (array(select allowed.id from {_ALLOWED} where numbers is null))
    or exists (select from {_ALLOWED} where allowed.id = message.conversation_id and message.seq <@ numbers) end
"""
FILES = f"""
select id, key, size, row_to_json(found)::text as line from (
    select id, owner_id, path_id as path, name, content_type, created_at as created from attachment
) as found join (select id, key, size, realm_id from attachment) as stored using (id)
where realm_id = $1 and ({is_own("owner_id")} or exists (
    select from attachment_link join message on message.id = message_id where attachment_id = found.id and {READABLE}
)) order by id
"""
# Null where there is nothing: it is left out of the line, and most of a line would be nothing.
MESSAGES = f"""
select json_strip_nulls(row_to_json(found))::text as line from (
    select id, conversation_id, seq as number, topic_id, sender_id, sent_at as sent, client, {text_in("content")} as content,
        nullif(arrived, false) as arrived, nullif(topic_since, 0) as topic_since,
        (select array_agg(json_build_object('user_id', user_id, 'emoji_name', emoji_name, 'emoji_code', emoji_code,
            'reaction_type', reaction_type, 'at', reacted_at) order by reacted_at, user_id)
            from reaction where message_id = message.id) as reactions,
        (select array_agg(json_strip_nulls(row_to_json(change)) order by change.id) from (
            select revision.id, user_id, changed_at as at,
                case when {_shown("texts")} and {_bytes_so_far("prev_content", "revision.id desc")} <= {MOST_FORMER_BYTES}
                    then {text_in("prev_content")} end as content,
                prev_topic as topic, revision.topic as new_topic, {_moved("prev_channel_id", "channel_id")}
            from message_revision as revision where message_id = message.id and {_shown("moves")}
        ) as change where num_nonnulls(content, topic, channel_id) > 0) as changes,
        (select array_agg(json_build_object('id', id, 'sender_id', sender_id, 'type', msg_type, 'content', content,
            'at', sent_at) order by id) from submessage where message_id = message.id) as submessages,
        (select array_agg(attachment_id order by attachment_id) from attachment_link where message_id = message.id)
            as files,
        (select array_agg(url order by url) from (
            select url, {_bytes_so_far("url", "url")} as size from link_preview_removed where message_id = message.id
        ) as hidden where size <= {MOST_HIDDEN_BYTES}) as hidden_previews,
        (select pinned_at from pin where message_id = message.id) as pinned
    from message where {{readable}}
    order by conversation_id, id
) as found
"""
_OF_ALL = "conversation_id in (select id from conversation where realm_id = $1)"
_OF_SOME = f"""
realm_id = $1 and conversation_id = any($2::bigint[]) and {READABLE}
"""
TOPIC_CHANGES = lines(f"""
select * from (
    select revision.id, topic_id, revision.last_seq as last_number, user_id, changed_at as at, prev_topic as topic,
        revision.topic as new_topic, {_moved("prev_channel_id", "channel_id")}
    from message_revision as revision join topic on topic.id = topic_id
    join channel on channel.id = conversation_id where realm_id = $1 and {_READABLE_TOPIC} and {_shown("moves")}
    order by revision.id
) as change where num_nonnulls(topic, channel_id) > 0
""")
READ_STATES = lines(f"""
select conversation_id, user_id, {_newest_ranges("read")}, {_ranges("history")}
from read_state join conversation on conversation.id = conversation_id
where realm_id = $1 and {is_own("user_id")} and {is_open("conversation_id")} order by conversation_id, user_id
""")
MARKS = lines(f"""
select user_id, message_id, case flag {_MARKS} end as flag
from message_mark join message on message.id = message_id
where user_id in (select id from account where realm_id = $1) and {is_own("user_id")} and {READABLE}
order by user_id, message_id, case flag {_MARKS} end collate "C"
""")
TOPIC_POLICIES = lines(f"""
select user_id, topic_id, case policy {_POLICIES} end as policy, updated_at as at
from topic_policy join topic on topic.id = topic_id join channel on channel.id = conversation_id
where realm_id = $1 and {is_own("user_id")} and {_READABLE_TOPIC} order by user_id, topic_id
""")
DRAFTS = lines(f"""
select draft.id, user_id, channel_id, user_ids, topic, {text_in("content")} as content, edited_at as edited
from draft join account on account.id = user_id
where realm_id = $1 and {is_own("user_id")} and (channel_id is null or {is_open("channel_id")}) order by draft.id
""")
SNIPPETS = lines(f"""
select saved_snippet.id, user_id, title, {text_in("content")} as content, saved_snippet.date_created as created
from saved_snippet join account on account.id = user_id where realm_id = $1 and {is_own("user_id")} order by saved_snippet.id
""")
SCHEDULED_MESSAGES = lines(f"""
select id, user_id, channel_id, user_ids, topic, {text_in("content")} as content, client, read, due, failed
from scheduled_message
where realm_id = $1 and {is_own("user_id")} and (channel_id is null or {is_open("channel_id")}) order by id
""")
REMINDERS = lines(f"""
select id, user_id, message_id, note, due from reminder where realm_id = $1 and {is_own("user_id")} order by id
""")


def messages_of(*, is_everything: bool) -> str:
    """All messages are found by their conversations alone: asking of each whether it is allowed would cost a third."""
    return MESSAGES.format(readable=_OF_ALL if is_everything else _OF_SOME)


def count_messages(*, is_everything: bool) -> str:
    """How many there will be."""
    return f"select count(*) from message where {_OF_ALL if is_everything else _OF_SOME}"


PLAIN = {
    "groups": GROUPS,
    "profile_fields": PROFILE_FIELDS,
    "linkifiers": LINKIFIERS,
    "playgrounds": PLAYGROUNDS,
    "folders": FOLDERS,
    "channels": CHANNELS,
    "directs": DIRECTS,
    "topics": TOPICS,
    "subscriptions": SUBSCRIPTIONS,
    "topic_changes": TOPIC_CHANGES,
    "read_states": READ_STATES,
    "marks": MARKS,
    "topic_policies": TOPIC_POLICIES,
    "drafts": DRAFTS,
    "snippets": SNIPPETS,
    "scheduled_messages": SCHEDULED_MESSAGES,
    "reminders": REMINDERS,
}
"""Kinds that are lines and nothing else."""
