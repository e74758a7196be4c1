"""Every table has a line that says what becomes of it: whoever adds one cannot forget the people in it."""

from tertulia.messaging.erasure.tables import TABLES, columns_of
from tests.features.messaging.erasure.planting import TABLE_NAMES
from tests.harness.stage import Stage

# By reference, and by what such columns are called where there is none.
REFERENCES = """
select class.relname, attribute.attname from pg_constraint as link
join pg_class as class on class.oid = link.conrelid
join pg_attribute as attribute on attribute.attrelid = class.oid and attribute.attnum = any(link.conkey)
where link.contype = 'f' and link.confrelid = 'account'::regclass and attribute.attname <> 'realm_id'
union select table_name, column_name from information_schema.columns
where table_schema = 'public' and data_type in ('bigint', 'ARRAY') and column_name ~ (
    '^(user|owner|account|bot|sender|actor|subject|author|creator|inviter|muted|person|member)_ids?$'
    '|^(participants|made_by|asked_by|named_by|share_of|former_names|after_user)$'
)
union values ('account', 'id'), ('audit_entry', 'target_id')
"""


def test_every_table_of_the_schema_has_a_line_for_erasure(stage: Stage) -> None:
    found = {name for (name,) in stage.sql(TABLE_NAMES)}
    assert found - TABLES.keys() == set(), (
        "say in messaging/erasure/tables.py what becomes of these when a person is erased"
    )
    assert TABLES.keys() - found == set(), "no such tables any more"


def test_every_column_that_names_a_person_is_in_the_line_of_its_table(stage: Stage) -> None:
    found = set(stage.sql(REFERENCES))
    said = {(table, column) for table, line in TABLES.items() for column in columns_of(line)}
    assert found - said == set(), "say in messaging/erasure/tables.py what becomes of these columns"
    assert said - found == set(), "no such columns any more"
