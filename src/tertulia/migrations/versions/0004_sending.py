"""Messages as they are sent: what they mention and contain, who takes part in a topic, notices on their way."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SQL = """
-- Accounts of the server itself, one of each kind in every realm: no list of users has them, nobody logs in as them.
alter table account add column system_bot text check (system_bot in ('notification')),
    add check (system_bot is null or (bot_type = 1 and bot_owner_id is null and password_hash is null));
create unique index on account (realm_id, system_bot) where system_bot is not null;
insert into account (realm_id, email, email_key, full_name, bot_type, system_bot)
select id, 'notification-bot@tertulia.invalid', 'notification-bot@tertulia.invalid', 'Notification Bot', 1, 'notification'
from realm;

-- wildcard: 1 the whole channel is mentioned, 2 those who take part in the topic: a property of the message, never a row
-- for each person.
alter table message
    add column wildcard smallint not null default 0 check (wildcard between 0 and 3),
    add column has_link boolean not null default false,
    add column has_image boolean not null default false,
    add column has_attachment boolean not null default false;
create index on message (conversation_id, id) where wildcard > 0;

-- One row for each group a message mentions, however many belong to it.
create table message_group_mention (
    message_id bigint not null references message on delete cascade,
    group_id bigint not null references user_group,
    primary key (message_id, group_id)
);
create index on message_group_mention (group_id, message_id);

-- Who sent to a topic or reacted in it.
create table topic_participant (
    topic_id bigint not null references topic on delete cascade,
    user_id bigint not null references account,
    primary key (topic_id, user_id)
);

-- Mentions find people by name, whatever its case.
create index on account (realm_id, lower(full_name));

-- Alert words are found by the first word in them (content/markup/alert_words.py): a message looks up its own words,
-- never everybody's list. Realms nobody has alert words in are told apart by a note among their settings, which come
-- with every caller.
alter table alert_word add column realm_id bigint, add column first_word text;
update alert_word set realm_id = account.realm_id, first_word = coalesce(substring(word_key from '\\w+'), '')
from account where account.id = alert_word.user_id;
alter table alert_word alter column realm_id set not null, alter column first_word set not null,
    add foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade;
create index on alert_word (realm_id, first_word, word_key);

create function alert_words_noted() returns trigger language plpgsql as $$
begin
    update realm set settings = settings || '{"_alerts": true}'
    where id in (select realm_id from changed) and not settings ? '_alerts';
    return null;
end
$$;
update realm set settings = settings || '{"_alerts": true}' where id in (select realm_id from alert_word);
create trigger alert_words_noted after insert on alert_word
    referencing new table as changed for each statement execute function alert_words_noted();

-- Who muted somebody: their messages are born read for these.
create index on muted_user (muted_id, user_id);

-- A repeat of a request is answered as the first one was.
alter table sent_request add column policy smallint;

-- Why somebody may not write to a set of people now; null: they may. Bots may, and everybody may write to bots.
create function direct_refusal(who bigint, realm bigint, people bigint[], is_new boolean) returns text
language plpgsql stable parallel safe as $$
declare
    permitting bigint;
    initiating bigint;
begin
    if exists (select from account where id = any(people) and not is_active) then
        return 'inactive';
    end if;
    select max(group_id) filter (where setting = 'direct_message_permission_group'),
        max(group_id) filter (where setting = 'direct_message_initiator_group')
    into permitting, initiating from realm_permission
    where realm_id = realm and setting in ('direct_message_permission_group', 'direct_message_initiator_group');
    if (permitting is null and initiating is null)
        or exists (select from account where id = who and bot_type is not null)
        or not exists (select from account where id = any(people) and id <> who and bot_type is null) then
        return null;
    end if;
    if permitting is not null and not exists (
        select from unnest(people) as person where is_group_member(person, permitting)
    ) then
        return case when (select name from user_group where id = permitting) = 'role:nobody' then 'disabled'
            else 'unauthorized' end;
    end if;
    if initiating is not null and is_new and not is_group_member(who, initiating) then
        return 'initiate';
    end if;
    return null;
end
$$;

-- What the notification bot has to say, written by the transaction that gives it the reason to (notices/).
create table notice (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    body jsonb not null,
    -- Not before: later than it was written for one that could not be sent.
    due timestamptz not null default now(),
    attempts int not null default 0
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
