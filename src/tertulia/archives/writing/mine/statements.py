"""What is one person's own: which messages, whom they are by, and lines that say no more of others than one needs to read them.

Messages that the person wrote, reacted to or starred, and their direct conversations: as far as they can read them now.
The parameters of the lines are those of statements.py, and $5: everybody whom something in the archive is by or to.
"""

from tertulia.archives.writing.statements import READABLE, is_open, is_own, lines, text_in
from tertulia.conversations.channels.rights import MAY_READ, MAY_READ_MESSAGE
from tertulia.conversations.read_state.marks import Mark
from tertulia.kernel.auth import Role
from tertulia.people.users.statements import is_hidden
from tertulia.people.users.visibility.actions import UNKNOWN_NAME

# $1 the realm, $2 the person.
CONVERSATIONS = f"""
with chosen as materialized (
    select id from message where sender_id = $2
    union select message_id from reaction where user_id = $2
    union select message_id from message_mark where user_id = $2 and flag = {Mark.STARRED}
    union select message.id from conversation join message on message.conversation_id = conversation.id
    where conversation.realm_id = $1 and participants @> array[$2::bigint]
)
select conversation.id, array_agg(message.id) as message_ids
from chosen join message on message.id = chosen.id join conversation on conversation.id = message.conversation_id
left join channel on channel.id = conversation.id
join account on account.id = $2
left join read_state on read_state.conversation_id = conversation.id and read_state.user_id = $2
where conversation.realm_id = $1 and {MAY_READ_MESSAGE}
group by conversation.id
"""
CHANNELS_NAMED = f"""
select channel.id from channel join account on account.id = $2
where channel.realm_id = $1 and channel.id in (
    select channel_id from subscription where user_id = $2 and is_active
    union all select channel_id from draft where user_id = $2
    union all select channel_id from scheduled_message where user_id = $2
) and {MAY_READ}
"""
"""Channels without such messages that something else of theirs names."""

# The parameters from here on are those of the lines.
KNOWN = f"""
, said as materialized (
    select message.id, message.sender_id from message
    where realm_id = $1 and conversation_id = any($2::bigint[]) and {READABLE}
)
select sender_id as id from said
union select user_id from reaction join said on said.id = message_id
union select user_id from message_revision join said on said.id = message_id where user_id is not null
union select submessage.sender_id from submessage join said on said.id = message_id
union select owner_id from attachment_link join said on said.id = message_id join attachment on attachment.id = attachment_id
union select unnest(participants) from conversation where id = any($2) and participants is not null
union select unnest(user_ids) from draft where user_id = any($4::bigint[])
union select unnest(user_ids) from scheduled_message where user_id = any($4)
union select muted_id from muted_user where user_id = any($4)
union select unnest($4)
"""
ORGANIZATION = lines("select id, subdomain, name, description, date_created as created from realm where id = $1")
OTHERS = f"""
select account.id, null as avatar, row_to_json(found)::text as line
from account join account as me on me.id = ($4::bigint[])[1], lateral (
    select account.id, case when is_hidden then '{UNKNOWN_NAME}' else account.full_name end as full_name,
        case when is_hidden then {Role.MEMBER} else account.role end as role, is_hidden or account.is_active as is_active,
        case when is_hidden then to_timestamp(0) else account.date_joined end as joined
    from (select {is_hidden("me", "account")} as is_hidden) as seen
) as found
where account.realm_id = $1 and account.id = any($5::bigint[]) and account.id <> all($4) order by account.id
"""
_NOTHING = lines("select 1 where false")
PLAIN = {
    "groups": lines(f"""
        select id, name, description, is_deactivated, date_created as created, array(
            select user_id from group_member where group_id = user_group.id and {is_own("user_id")}
        ) as members
        from user_group where realm_id = $1 and name is not null and not name like 'role:%' and exists (
            select from group_member where group_id = user_group.id and {is_own("user_id")}
        ) order by id
    """),
    "linkifiers": _NOTHING,
    "playgrounds": _NOTHING,
    "folders": _NOTHING,
    "channels": lines(f"""
        select id, name, description, invite_only as is_private, is_web_public, history_public_to_subscribers, is_archived,
            date_created as created, (select last_seq from conversation where conversation.id = channel.id) as last_number
        from channel where realm_id = $1 and {is_open("id")} order by id
    """),
    "subscriptions": lines(f"""
        select channel_id, user_id, is_active, json_build_object('color', color, 'is_muted', is_muted,
            'pin_to_top', pin_to_top, 'desktop_notifications', desktop_notifications,
            'audible_notifications', audible_notifications, 'push_notifications', push_notifications,
            'email_notifications', email_notifications, 'wildcard_mentions_notify', wildcard_mentions_notify) as choices
        from subscription where {is_own("user_id")} and {is_open("channel_id")} order by channel_id, user_id
    """),
    "topics": lines(f"""
        select topic.id, conversation_id as channel_id, topic.name, last_seq as last_number from topic
        where conversation_id = any($2::bigint[])
            and exists (select from message where topic_id = topic.id and {READABLE})
        order by conversation_id, topic.id
    """),
    "topic_changes": _NOTHING,
    "drafts": lines(f"""
        select id, user_id, case when {is_open("channel_id")} then channel_id end as channel_id, user_ids, topic,
            {text_in("content")} as content, edited_at as edited
        from draft where {is_own("user_id")} order by id
    """),
    "scheduled_messages": lines(f"""
        select id, user_id, case when {is_open("channel_id")} then channel_id end as channel_id, user_ids, topic,
            {text_in("content")} as content, client, read, due, failed
        from scheduled_message where {is_own("user_id")} order by id
    """),
}
"""Where the lines differ from those of an organization."""
