"""The two statements of a batch of sends.

First the conversations are locked, in id order, so that two batches never wait for each other in a circle. Then,
in a statement of its own, so that it sees everything committed before the locks were had: rights are checked, numbers
are taken, rows written, and the events put into the WAL. A row that is not returned was refused.
"""

from tertulia.channels.rights import MAY_SEND

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
        $10::boolean[], $11::text[]
    ) with ordinality as sent(
        conversation_id, sender_id, topic, topic_key, content, rendered, client, subject, record, read, key, ord
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
    where case when channel.id is null then input.sender_id = any(conversation.participants) else {MAY_SEND} end
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
    select conversation_id, sender_id, range_agg(int8range(seq, seq + 1)) as seqs from numbered where read
    group by conversation_id, sender_id
), seen as (
    update read_state set read = read_state.read + held.seqs
    -- Locked in the order everybody locks read states in: two writers never wait for each other in a circle.
    from (
        select state.conversation_id, state.user_id, own.seqs
        from own join read_state as state on state.conversation_id = own.conversation_id and state.user_id = own.sender_id
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
