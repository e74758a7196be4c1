"""What people pile up on one thing is one line of an archive, and a reader takes lines up to a bound."""

from pathlib import Path

from tests.features.archives.conftest import World
from tests.harness.command import tertulia

PILED = """
insert into message_revision (message_id, user_id, changed_at, prev_content, prev_rendered, number)
select %s, %s, now(), format('%%s ', n) || repeat(chr(128075), 9990), '', n from generate_series(1, 1000) as n
"""
"""As many texts as a message may have, each as long as one may be."""
HIDDEN = """
insert into link_preview_removed (message_id, url)
select %s, format('https://example.com/%%s/', n) || repeat('x', 1900) from generate_series(1, 3000) as n
"""


def test_of_a_message_that_was_changed_very_often_the_newest_texts_leave_in_an_archive_that_is_read(
    world: World, folder: Path
) -> None:
    realm = world.realm
    message = realm.member.send(world.public.stream_id, "often", "the last of many")
    realm.stage.sql(PILED, message, realm.member.id)
    realm.stage.sql(HIDDEN, message)
    for scope in ("everything", "public"):
        found = world.export(folder / f"{scope}.tar", scope)
        checked = tertulia("archive", "check", str(found.file))
        assert checked.returncode == 0, checked.stderr
        [line] = [one for one in found.lines("messages") if one["id"] == message]
        texts = [int(change["content"].split()[0]) for change in line["changes"]]
        assert texts == list(range(1001 - len(texts), 1001))
        assert len(texts) > 50
        assert len(line["hidden_previews"]) > 100
    realm.stage.sql("delete from message where id = %s", message)


def test_of_very_many_gaps_in_what_somebody_has_read_the_newest_leave(world: World, folder: Path) -> None:
    stage, member, channel = world.realm.stage, world.realm.member, world.public.stream_id
    [(before,)] = stage.sql(
        "select read::text from read_state where user_id = %s and conversation_id = %s", member.id, channel
    )
    sql = "update read_state set read = {} where user_id = %s and conversation_id = %s"
    many = "(select range_agg(int8range(2 * n, 2 * n + 1)) from generate_series(1, 1000000) as n)"
    stage.sql(sql.format(many), member.id, channel)
    try:
        found = world.export(folder / "gaps.tar")
    finally:
        stage.sql(sql.format(f"'{before}'::int8multirange"), member.id, channel)
    checked = tertulia("archive", "check", str(found.file))
    assert checked.returncode == 0, checked.stderr
    [line] = [
        one for one in found.lines("read_states") if (one["user_id"], one["conversation_id"]) == (member.id, channel)
    ]
    assert len(line["read"]) == 400_000
    assert line["read"][-1] == [2_000_000, 2_000_001]
    assert all(
        len(one["read"]) < 100 for one in found.lines("read_states") if one is not line and one["user_id"] != member.id
    )
