"""Searching messages, and indexes for narrows."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SQL = """
-- A trusted extension of PostgreSQL's contrib: whoever may create in the database may create it.
create extension if not exists pg_trgm;

-- What the index is made with, and so what every search is asked with. Another language: `tertulia search language`.
create function search_language() returns regconfig language sql immutable parallel safe as $$
    select 'pg_catalog.english'::regconfig
$$;

-- The query for texts that hold all these words and phrases, or one of them. Stop words are left out; of these alone nothing
-- is left (null), and nothing matches.
create function search_words(words text[], phrases text[], every boolean) returns tsquery
language sql immutable parallel safe as $$
    select string_agg('(' || query::text || ')', case when every then ' & ' else ' | ' end)::tsquery
    from (
        select plainto_tsquery(search_language(), word) as query from unnest(words) as word
        union all
        select phraseto_tsquery(search_language(), phrase) from unnest(phrases) as phrase
    ) as made
    where numnode(query) > 0
$$;

-- is_unspaced: the text has letters of a script that puts no spaces between words
-- (messaging/narrows/search.py has the same ranges).
alter table message
    add column search tsvector generated always as (to_tsvector(search_language(), rendered)) stored,
    add column is_unspaced boolean generated always as (
        content ~ '[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u1100-\\u11ff\\u2e80-\\u2fdf\\u3040-\\u30ff\\u3100-\\u318f'
            '\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\uff66-\\uff9f'
            '\\U00020000-\\U0003ffff]'
    ) stored;
create index message_search on message using gin (search) with (fastupdate = on);
create index message_unspaced on message using gin (content gin_trgm_ops) where is_unspaced;
create index message_unspaced_id on message (conversation_id, id) where is_unspaced;
alter table topic add column search tsvector generated always as (to_tsvector(search_language(), name)) stored;
create index topic_search on topic using gin (search);

-- How many messages hold all these words, as the planner believes: it decides which way a search goes.
create function search_estimate(words text[], phrases text[], out hits bigint, out total bigint)
language plpgsql volatile as $$
declare
    plan json;
begin
    execute format(
        'explain (format json) select from message where search @@ %L::tsquery', search_words(words, phrases, true)::text
    ) into plan;
    hits := plan->0->'Plan'->>'Plan Rows';
    total := greatest(reltuples, 0) from pg_class where oid = 'message'::regclass;
end
$$;

create index message_sender on message (sender_id, id);
create index message_link on message (conversation_id, id) where has_link;
create index message_image on message (conversation_id, id) where has_image;
create index message_attachment on message (conversation_id, id) where has_attachment;
"""


def upgrade() -> None:
    """Make the columns and indexes."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
