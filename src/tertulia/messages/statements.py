"""The two statements of a batch of sends, and those of notices.

First the conversations are locked, in id order, so that two batches never wait for each other in a circle. Then,
in a statement of its own, so that it sees everything committed before the locks were had: rights are checked, numbers
are taken, rows written, and the events put into the WAL. A row that is not returned was refused.
"""

from collections.abc import Sequence

from tertulia.channels.rights import MAY_SEND
from tertulia.kernel.db import subject_of
from tertulia.messages.model import Outgoing
from tertulia.users.queries import OWNER_COLUMNS

LOCK = """
select id from conversation where id = any($1::bigint[]) order by id for no key update
"""

# Whether a batch was committed: its messages are stored together, or none of them.
STORED = "select exists (select from message where id = $1 and sender_id = $2 and content = $3)"

# A conversation somebody else holds is left for a lane that can wait, so that it does not hold up all others.
LOCK_FREE = """
select id from conversation where id = any($1::bigint[]) order by id for no key update skip locked
"""

SEND = f"""
with input as (
    select * from unnest(
        $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::bigint[], $11::text[]
    ) with ordinality as sent(
        conversation_id, sender_id, topic, topic_key, content, rendered, client, subject, record, read_by, key, ord
    )
), repeated as (
    select ord, sent_request.message_id from input
    join sent_request on sent_request.sender_id = input.sender_id and sent_request.key = input.key
), allowed as materialized (
    select input.*, conversation.realm_id, conversation.last_seq
    from input
    join conversation on conversation.id = input.conversation_id
    join account on account.id = input.sender_id and account.realm_id = conversation.realm_id and account.is_active
    left join channel on channel.id = conversation.id
    where case when channel.id is null then input.sender_id = any(conversation.participants)
        else account.system_bot is not null or {MAY_SEND} end
        and not exists (select from repeated where repeated.ord = input.ord)
), numbered as materialized (
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
    insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
    select numbered.realm_id, numbered.conversation_id, seq, topics.id, sender_id, client, content, rendered
    from numbered left join topics
        on topics.conversation_id = numbered.conversation_id and topics.name_key = numbered.topic_key
    order by ord
    returning id, conversation_id, seq, sent_at
), own as (
    select conversation_id, read_by, range_agg(int8range(seq, seq + 1)) as seqs from numbered where read_by is not null
    group by conversation_id, read_by
), seen as (
    update read_state set read = read_state.read + held.seqs
    -- Locked in the order everybody locks read states in: two writers never wait for each other in a circle.
    from (
        select state.conversation_id, state.user_id, own.seqs
        from own join read_state as state on state.conversation_id = own.conversation_id and state.user_id = own.read_by
        order by state.conversation_id, state.user_id for update of state
    ) as held
    where read_state.conversation_id = held.conversation_id and read_state.user_id = held.user_id
), remembered as (
    insert into sent_request (sender_id, key, message_id)
    select numbered.sender_id, numbered.key, stored.id
    from numbered join stored using (conversation_id, seq) where key is not null
), emitted as (
    select ord, stored.id, subject,
        pg_current_xact_id()::text || ' {{"stamp":{{"id":' || stored.id || ',"seq":' || stored.seq || ',"at":'
            || extract(epoch from sent_at)::bigint || coalesce(',"topic":' || to_json(topics.name)::text, '') || '}},'
            || substr(record, 2) as body
    from numbered join stored using (conversation_id, seq)
    left join topics on topics.conversation_id = numbered.conversation_id and topics.name_key = numbered.topic_key
    order by ord offset 0
)
select ord, id, pg_current_xact_id()::text as xid, pg_logical_emit_message(true, subject, body) from emitted
union all
select ord, message_id, pg_current_xact_id()::text, null from repeated
"""

# What the notification bot has to say (notices.py).
# Conversations are made before, in a transaction of their own: whoever waits for one holds nothing else.
MAKE_CONVERSATIONS = """
with wanted as (
    select distinct notice.realm_id, array[least(bot.id, account.id), greatest(bot.id, account.id)] as participants
    from notice
    join account on account.realm_id = notice.realm_id and account.id = (notice.body->>'user_id')::bigint
    join account as bot on bot.realm_id = notice.realm_id and bot.system_bot = 'notification' and bot.id <> account.id
), made as (
    insert into conversation (realm_id, participants) select realm_id, participants from wanted
    order by realm_id, participants on conflict (realm_id, participants) do nothing returning id, participants
)
insert into read_state (conversation_id, user_id, history)
select made.id, user_id, int8multirange(int8range(1, null)) from made, unnest(participants) as user_id
"""

CLAIM = f"""
with due as (
    select * from notice where created <= now() - make_interval(secs => $2) and not id = any($3::bigint[])
    order by id limit $1 for update skip locked
), person as (
    select due.id as due_id, account.id as person_id, full_name as person_name, email as person_email,
        email_visibility(account) <= 1 as shows_email
    from due join account on account.realm_id = due.realm_id and account.id = (due.body->>'user_id')::bigint
)
select due.id, due.body::text, {OWNER_COLUMNS}, person_id, person_name, person_email, shows_email,
    spoken.id as direct_id, channel.id as channel_id, channel.name as channel_name, channel.invite_only
from due join realm on realm.id = due.realm_id
join account on account.realm_id = due.realm_id and account.system_bot = 'notification'
left join channel on channel.realm_id = due.realm_id and channel.id = (due.body->>'channel_id')::bigint
left join person on person.due_id = due.id and person_id <> account.id
left join conversation as spoken on spoken.realm_id = due.realm_id
    and spoken.participants = array[least(account.id, person_id), greatest(account.id, person_id)]
order by due.id
"""


def columns(batch: Sequence[Outgoing], shards: int) -> list[list[object]]:
    """The arguments of SEND."""
    rows = [
        (
            out.conversation_id,
            out.sender_id,
            out.topic,
            out.topic_key,
            out.content,
            out.rendered,
            out.client,
            subject_of(out.realm_id, shards),
            out.record,
            out.read_by,
            out.key,
        )
        for out in batch
    ]
    return [list(column) for column in zip(*rows, strict=True)]
