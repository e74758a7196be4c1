"""The two statements of a batch of sends (the second in a short version for plain messages as well), and those of notices.

First the conversations are locked, in id order, so that two batches never wait for each other in a circle. Then,
in a statement of its own, so that it sees everything committed before the locks were had: rights are checked, numbers
are taken, rows written, and the events put into the WAL. A row that is not returned was refused.
"""

from collections.abc import Sequence

from tertulia.conversations.channels.model import Channel
from tertulia.conversations.channels.rights import MAY_CREATE_TOPIC, MAY_SEND, MAY_SEND_PLAINLY, granted
from tertulia.conversations.read_state.marks import WILDCARDS, Facts, Mark, TopicPolicy
from tertulia.kernel.auth import EVERYONE
from tertulia.kernel.db import subject_of
from tertulia.kernel.freezing import NOTE, is_frozen
from tertulia.messaging.mentions.queries import MAY_MENTION_MANY
from tertulia.messaging.mentions.rules import MANY, MAX_LISTED
from tertulia.messaging.sending.model import Outgoing
from tertulia.organization.groups.webs.statements import climbing, holds_by_climbing
from tertulia.organization.notices.queries import CAUSER
from tertulia.people.preferences.model import TopicTrigger
from tertulia.people.users.authentication.queries import OWNER_COLUMNS

LOCK = """
select id from conversation where id = any($1::bigint[]) order by id for no key update
"""

# Whether a batch was committed: its messages are stored together, or none of them.
STORED = "select exists (select from message where id = $1 and sender_id = $2 and content = $3)"

# Which realms are frozen, of those whose messages were refused (kernel/freezing.py).
FROZEN = f"select id from realm where id = any($1::bigint[]) and settings ? '{NOTE}'"

# A conversation somebody else holds is left for a lane that can wait, so that it does not hold up all others.
LOCK_FREE = """
select id from conversation where id = any($1::bigint[]) order by id for no key update skip locked
"""


# Whether the whole channel, or all who take part in the topic, may be mentioned by this row.
_MAY_MENTION_CHANNEL = f"""
(input.facts & {Facts.CHANNEL_WILDCARD} = 0 or channel.subscriber_count <= {MANY} or {MAY_MENTION_MANY})
"""
_MAY_MENTION = f"""
(input.facts & {WILDCARDS} = 0 or (
    {_MAY_MENTION_CHANNEL} and (input.facts & {Facts.TOPIC_WILDCARD} = 0 or {MAY_MENTION_MANY} or (
        select count(*) from (select from topic_participant where topic_id = known.id limit {MANY + 1}) as counted
    ) <= {MANY})
))
"""

_MAY_MENTION_GROUPS = f"""
not exists (
    with recursive {climbing("account.id")}
    select from grouped join user_group on user_group.id = grouped.group_id
    join user_group as holder on holder.id = user_group.can_mention_group
    where grouped.ord = input.ord and (user_group.is_deactivated or not {holds_by_climbing("holder", "account")}) offset 0
)
"""

# The files were looked at before (storing.py): one that is not there, or out of the sender's reach, has no number.
_MAY_ATTACH = "not exists (select from attached where attached.ord = input.ord and attachment_id is null)"

# What the message was judged by and its event made from (`channel_seen`): it may have changed since.
_AS_SEEN = "input.channel_seen = concat_ws(' ', channel.invite_only::text, channel.topics_policy, channel.name)"

# `offset 0` in what follows: look each one up. Beside an `or` the planner may read a whole table into a hash instead.

# Whether there was nothing in the topic that the sender could know. Only of protected history it takes a look, at the newest
# messages: all of a long topic, each against a history of many pieces, took seconds for which the whole lane waits (0184).
_IS_START = """
(coalesce(known.last_seq, 0) = 0 or (not channel.history_public_to_subscribers and not exists (
    select from (select seq from message where message.topic_id = known.id order by message.id desc limit 20) as newest
    join read_state on read_state.conversation_id = channel.id and read_state.user_id = account.id
    where newest.seq <@ read_state.history offset 0
)))
"""


def _chosen(setting: str, default: TopicTrigger) -> str:
    """Whether a setting of the sender's acts now."""
    value = f"coalesce((account.settings->>'{setting}')::int, {default})"
    return f"({value} <= {TopicTrigger.SENDING} or ({value} = {TopicTrigger.STARTING} and {_IS_START}))"


# The policy for the topic that the sender's settings choose: followed, or unmuted in a channel they muted.
_NEW_POLICY = f"""
case when channel.id is null or account.bot_type is not null then null
    when {_chosen("automatically_follow_topics_policy", TopicTrigger.STARTING)} then {TopicPolicy.FOLLOWED}
    when {_chosen("automatically_unmute_topics_in_muted_streams_policy", TopicTrigger.SENDING)} and exists (
        select from subscription
        where user_id = account.id and channel_id = channel.id and subscription.is_active and is_muted offset 0
    ) then {TopicPolicy.UNMUTED} end
"""

MOST_READ_BYTES = 131_072
"""Of a read state that a send writes anew, about 6,000 ranges: everybody in the lane waits for it (0183). To who leaves more gaps
than that in a conversation, their own messages there count as unread until they read some of it."""
# The rows that every message writes, of those that are allowed: its number, its topic, itself, what its sender has read.
_STORED_ROWS = f"""), numbered as materialized (
    select *, last_seq + row_number() over (partition by conversation_id order by ord) as seq from allowed
), advanced as (
    update conversation set last_seq = newest.seq
    from (select conversation_id, max(seq) as seq from numbered group by conversation_id) as newest
    where conversation.id = newest.conversation_id
), topics as (
    insert into topic (conversation_id, name, name_key, last_seq)
    select distinct on (conversation_id, topic_key) conversation_id, topic, topic_key,
           max(seq) over (partition by conversation_id, topic_key)
    from numbered where topic_key is not null order by conversation_id, topic_key, seq
    on conflict (conversation_id, name_key) do update set last_seq = excluded.last_seq
    returning id, conversation_id, name, name_key
), stored as (
    insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered,
        wildcard, has_link, has_image, has_attachment)
    select numbered.realm_id, numbered.conversation_id, seq, topics.id, sender_id, client, content, rendered,
        facts & {WILDCARDS}, facts & {Facts.LINK} > 0, facts & {Facts.IMAGE} > 0,
        facts & {Facts.ATTACHMENT} > 0
    from numbered left join topics
        on topics.conversation_id = numbered.conversation_id and topics.name_key = numbered.topic_key
    order by ord
    returning id, conversation_id, seq, topic_id, sender_id, sent_at
), taking_part as (
    insert into topic_participant (topic_id, user_id)
    select distinct topic_id, sender_id from stored
    where topic_id is not null and not exists (
        select from topic_participant as there where there.topic_id = stored.topic_id and there.user_id = stored.sender_id
    ) on conflict do nothing
), own as (
    select conversation_id, read_by, range_agg(int8range(seq, seq + 1)) as seqs from numbered where read_by is not null
    group by conversation_id, read_by
), seen as (
    update read_state set read = read_state.read + held.seqs
    -- Locked in the order everybody locks read states in: two writers never wait for each other in a circle.
    from (
        select state.conversation_id, state.user_id, own.seqs
        from own join read_state as state on state.conversation_id = own.conversation_id and state.user_id = own.read_by
        where pg_column_size(state.read) < {MOST_READ_BYTES}
        order by state.conversation_id, state.user_id for update of state
    ) as held
    where read_state.conversation_id = held.conversation_id and read_state.user_id = held.user_id
"""

# Of each stored message: the policy that is new, and the beginning of its event with what was decided here.
_POLICY_AND_STAMP = f"""        case when topics.id is not null and not exists (
            select from topic_policy where topic_policy.user_id = numbered.sender_id
                and topic_policy.topic_id = topics.id and policy in ({TopicPolicy.FOLLOWED}, new_policy) offset 0
        ) then new_policy end as new_policy,
        pg_current_xact_id()::text || ' {{"stamp":{{"id":' || stored.id || ',"seq":' || stored.seq || ',"at":'
            || extract(epoch from sent_at)::bigint || coalesce(',"topic":' || to_json(topics.name)::text, '')
            || coalesce(',"muted_by":' || (
                select to_json(array_agg(user_id)) from (
                    select user_id from muted_user where muted_id = numbered.sender_id limit {MAX_LISTED}
                ) as muting)::text, '')
"""
_OF_STORED = """    from numbered join stored using (conversation_id, seq)
    left join topics on topics.conversation_id = numbered.conversation_id and topics.name_key = numbered.topic_key
    order by ord offset 0
"""

SEND = f"""
with input as (
    select * from unnest(
        $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::bigint[], $11::text[], $12::int[], $13::text[], $14::text[]
    ) with ordinality as sent(
        conversation_id, sender_id, topic, topic_key, content, rendered, client, subject, record, read_by, key, facts,
        channel_seen, widget, ord
    )
), mentioned as (
    select * from unnest($15::bigint[], $16::bigint[]) as mentioned(ord, user_id)
), grouped as (
    select * from unnest($17::bigint[], $18::bigint[]) as grouped(ord, group_id)
), alerting as (
    select * from unnest($19::bigint[], $20::text[]) as alerting(ord, word_key)
), attached as (
    select * from unnest($21::bigint[], $22::bigint[], $23::boolean[]) as attached(ord, attachment_id, is_waiting)
), repeated as (
    select ord, sent_request.message_id, sent_request.policy from input
    join sent_request on sent_request.sender_id = input.sender_id and sent_request.key = input.key
), allowed as materialized (
    select input.*, conversation.realm_id, conversation.last_seq, conversation.participants, {_NEW_POLICY} as new_policy
    from input
    join conversation on conversation.id = input.conversation_id
    join account on account.id = input.sender_id and account.realm_id = conversation.realm_id and account.is_active
    left join channel on channel.id = conversation.id
    left join topic as known on known.conversation_id = channel.id and known.name_key = input.topic_key
    where (account.system_bot is not null or (
        case when channel.id is null then input.sender_id = any(conversation.participants)
            and direct_refusal(account.id, account.realm_id, conversation.participants, conversation.last_seq = 0) is null
        else {MAY_SEND} and {_AS_SEEN} and {_MAY_MENTION}
            and (coalesce(known.last_seq, 0) > 0 or {MAY_CREATE_TOPIC}) end
        and {_MAY_MENTION_GROUPS}))
        and {_MAY_ATTACH} and not {is_frozen("conversation.realm_id")}
        and not exists (select from repeated where repeated.ord = input.ord)
{_STORED_ROWS}), marks as (
    insert into message_mark (user_id, flag, message_id)
    select user_id, flag, stored.id
    from (
        select ord, user_id, {Mark.MENTIONED} as flag from mentioned
        union
        select ord, alert_word.user_id, {Mark.HAS_ALERT_WORD} from alerting join allowed using (ord)
        join alert_word on alert_word.realm_id = allowed.realm_id and alert_word.word_key = alerting.word_key
    ) as concerned join numbered using (ord) join stored using (conversation_id, seq)
    -- Only those who receive the message: it concerns nobody else.
    where user_id = any(numbered.participants) or exists (
        select from subscription where subscription.user_id = concerned.user_id
            and subscription.channel_id = numbered.conversation_id and subscription.is_active offset 0
    )
    order by user_id, flag, stored.id
    returning user_id, flag, message_id
), group_mentions as (
    insert into message_group_mention (message_id, group_id)
    select distinct stored.id, group_id
    from grouped join numbered using (ord) join stored using (conversation_id, seq)
), links as (
    insert into attachment_link (message_id, attachment_id, is_waiting)
    select stored.id, attachment_id, is_waiting from attached join numbered using (ord) join stored using (conversation_id, seq)
    order by attachment_id
), widgets as (
    insert into submessage (message_id, sender_id, msg_type, content)
    select stored.id, numbered.sender_id, 'widget', widget
    from numbered join stored using (conversation_id, seq) where widget is not null order by stored.id
    returning id, message_id
), emitted as (
    select ord, stored.id, numbered.sender_id, key, subject, stored.topic_id, topics.name as topic_name,
{_POLICY_AND_STAMP}            || coalesce(',"alerted":' || (
                select to_json(array_agg(user_id)) from (
                    select user_id from marks where message_id = stored.id and flag = {Mark.HAS_ALERT_WORD} limit {MAX_LISTED}
                ) as alerted)::text, '')
            || case when facts & {Facts.TOPIC_WILDCARD} = 0 then '' else coalesce(',"participants":' || (
                select to_json(array_agg(user_id)) from (
                    select user_id from topic_participant where topic_id = stored.topic_id limit {MAX_LISTED}
                ) as taking_part)::text, '') end
            || coalesce(',"widget_id":' || (select id from widgets where message_id = stored.id), '')
            || '}},' || substr(record, 2) as body
{_OF_STORED}), remembered as (
    insert into sent_request (sender_id, key, message_id, policy)
    select sender_id, key, id, new_policy from emitted where key is not null
)
select ord, id, pg_current_xact_id()::text as xid, pg_logical_emit_message(true, subject, body), topic_id, topic_name,
    new_policy, case when topic_id is not null then (
        -- Who is mentioned follows the topic from now on, unless they chose otherwise.
        select array_agg(account.id order by account.id) from marks join account on account.id = marks.user_id
        where marks.message_id = emitted.id and marks.flag = {Mark.MENTIONED} and account.bot_type is null
            and coalesce((account.settings->>'automatically_follow_topics_where_mentioned')::boolean, true)
            and not exists (select from topic_policy where topic_policy.user_id = account.id
                and topic_policy.topic_id = emitted.topic_id and policy in ({TopicPolicy.MUTED}, {TopicPolicy.FOLLOWED}))
    ) end as followers
from emitted
union all
select ord, message_id, pg_current_xact_id()::text, null, null, null, policy, null from repeated
"""

# SEND for batches of plain messages (`is_plain`), which is most of them: what only others need is left out, and it is a third of
# the work. Each condition is one of SEND's with alternatives taken away, so nobody may here who may not there. It stores all
# messages of the batch, or none because of one that SEND has to judge.
SEND_PLAIN = f"""
with input as (
    select * from unnest(
        $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::bigint[], $11::text[], $12::int[], $13::text[]
    ) with ordinality as sent(
        conversation_id, sender_id, topic, topic_key, content, rendered, client, subject, record, read_by, key, facts,
        channel_seen, ord
    )
), judged as materialized (
    select input.*, conversation.realm_id, conversation.last_seq, {_NEW_POLICY} as new_policy
    from input
    join conversation on conversation.id = input.conversation_id
    join account on account.id = input.sender_id and account.realm_id = conversation.realm_id and account.is_active
    left join channel on channel.id = conversation.id
    left join topic as known on known.conversation_id = channel.id and known.name_key = input.topic_key
    where case when channel.id is null then input.sender_id = any(conversation.participants)
            and direct_refusal(account.id, account.realm_id, conversation.participants, conversation.last_seq = 0) is null
        else {MAY_SEND_PLAINLY} and {_AS_SEEN} and {_MAY_MENTION_CHANNEL}
            and (coalesce(known.last_seq, 0) > 0 or {granted("can_create_topic_group")}) end
        and not {is_frozen("conversation.realm_id")}
        and (input.key is null or not exists (
            select from sent_request where sent_request.sender_id = input.sender_id and sent_request.key = input.key offset 0))
), allowed as (
    select * from judged where (select count(*) from judged) = cardinality($1::bigint[])
{_STORED_ROWS}), emitted as (
    select ord, stored.id, numbered.sender_id, key, subject, stored.topic_id, topics.name as topic_name,
{_POLICY_AND_STAMP}            || '}},' || substr(record, 2) as body
{_OF_STORED}), remembered as (
    insert into sent_request (sender_id, key, message_id, policy)
    select sender_id, key, id, new_policy from emitted where key is not null
)
select ord, id, pg_current_xact_id()::text as xid, pg_logical_emit_message(true, subject, body), topic_id, topic_name,
    new_policy, null::bigint[] as followers
from emitted
"""

# What the notification bot has to say (notices.py).
# Conversations are made before, in a transaction of their own: whoever waits for one holds nothing else.
MAKE_CONVERSATIONS = """
with wanted as (
    select distinct notice.realm_id, array[least(bot.id, account.id), greatest(bot.id, account.id)] as participants
    from notice
    join account on account.realm_id = notice.realm_id and account.id = (notice.body->>'user_id')::bigint
    join account as bot on bot.realm_id = notice.realm_id and bot.system_bot = 'notification' and bot.id <> account.id
    where notice.id = any($1::bigint[])
), made as (
    insert into conversation (realm_id, participants) select realm_id, participants from wanted
    order by realm_id, participants on conflict (realm_id, participants) do nothing returning id, participants
)
insert into read_state (conversation_id, user_id, history)
select made.id, user_id, int8multirange(int8range(1, null)) from made, unnest(participants) as user_id
"""

# Organizations take turns, and in each those who did what is told, with their bots: everybody's first before anybody's second.
CLAIM = f"""
with turn as materialized (
    select id, row_number() over (partition by realm_id order by place, id) as turn from (
        select notice.id, notice.realm_id, row_number() over (
            partition by notice.realm_id, person_id order by notice.id) as place
        from notice left join {CAUSER} on true
        where due <= now() - make_interval(secs => $2) and not {is_frozen("notice.realm_id")}
    ) as own
), due as (
    select notice.* from turn join notice using (id) where due <= now() - make_interval(secs => $2)
    order by turn.turn, id limit $1 for update of notice skip locked
), person as (
    select due.id as due_id, account.id as person_id, full_name as person_name, email as person_email,
        email_visibility(account) <= {EVERYONE} as shows_email
    from due join account on account.realm_id = due.realm_id and account.id = (due.body->>'user_id')::bigint
), looking as (
    select due.id as due_id, account.id as looking_id, account.role as looking_role
    from due join account on account.realm_id = due.realm_id
        and account.id = coalesce(due.body->>'user_id', due.body->>'seen_by')::bigint
)
select due.id, due.body::text, {OWNER_COLUMNS}, person_id, person_name, person_email, shows_email,
    looking_id, looking_role, spoken.id as direct_id, channel.id as channel_id, channel.name as channel_name, channel.invite_only
from due join realm on realm.id = due.realm_id
join account on account.realm_id = due.realm_id and account.system_bot = 'notification'
left join channel on channel.realm_id = due.realm_id and channel.id = (due.body->>'channel_id')::bigint
left join person on person.due_id = due.id and person_id <> account.id
left join looking on looking.due_id = due.id
left join conversation as spoken on spoken.realm_id = due.realm_id
    and spoken.participants = array[least(account.id, person_id), greatest(account.id, person_id)]
order by due.id
"""


def channel_seen(channel: Channel) -> str:
    """What of a channel a message depends on; the same as in SEND."""
    return f"{'true' if channel.invite_only else 'false'} {channel.topics_policy} {channel.name}"


def is_plain(message: Outgoing) -> bool:
    """Whether a message has nothing of what SEND_PLAIN leaves out."""
    text = message.text
    extras = text.mentioned or text.groups or text.alerting or text.attached or text.facts & Facts.TOPIC_WILDCARD
    return not extras and message.sent.widget is None and not message.is_notice


def plain_columns(batch: Sequence[Outgoing], shards: int) -> list[list[object]]:
    """The arguments of SEND_PLAIN, and the first ones of SEND."""
    rows = [
        (
            out.sent.conversation_id,
            out.sent.sender_id,
            out.place.topic,
            out.place.topic_key,
            out.sent.content,
            out.sent.rendered,
            out.sent.client,
            subject_of(out.sender.realm_id, shards),
            out.record,
            out.sent.read_by,
            out.key,
            out.text.facts,
            out.place.channel_seen,
        )
        for out in batch
    ]
    return [list(column) for column in zip(*rows, strict=True)]


def columns(
    batch: Sequence[Outgoing], shards: int, files: Sequence[tuple[int, int | None, bool]] = ()
) -> list[list[object]]:
    """The arguments of SEND. `files` are those of storing.py."""
    lists = (
        [(ord, user_id) for ord, out in enumerate(batch, start=1) for user_id in out.text.mentioned],
        [(ord, group_id) for ord, out in enumerate(batch, start=1) for group_id in out.text.groups],
        [(ord, word) for ord, out in enumerate(batch, start=1) for word in out.text.alerting],
    )
    flat: list[list[object]] = [[pair[index] for pair in pairs] for pairs in lists for index in (0, 1)]
    flat += [[file[index] for file in files] for index in (0, 1, 2)]
    return [*plain_columns(batch, shards), [out.sent.widget for out in batch], *flat]
