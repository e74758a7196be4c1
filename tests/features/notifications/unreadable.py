"""People whom something is wrong with."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.realm import Realm
from tests.harness.talk import Speaker


@contextmanager
def unreadable_settings(realm: Realm, person: Speaker) -> Iterator[None]:
    """As an error of ours, or of whoever wrote into the database, could leave them: nothing can be made of them."""
    sql = "update account set settings = %s where id = %s"
    [(before,)] = realm.stage.sql("select settings::text from account where id = %s", person.id)
    realm.stage.sql(sql, '{"twenty_four_hour_time": "often"}', person.id)
    try:
        yield
    finally:
        realm.stage.sql(sql, before, person.id)
