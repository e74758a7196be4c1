"""What a device asks before it shows something: which of its notifications are about unread messages still, and how many."""

from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import check_success


def test_a_device_asks_what_of_that_which_it_shows_is_unread_still(realm: Realm, stage: Stage) -> None:
    me, other = realm.member, realm.owner
    channel = stage.channel(me, other, realm_id=realm.id)
    told, read = (other.send([me.id], content="hello") for _ in range(2))
    said = other.send(channel.stream_id, "tea", "nothing")
    hidden = other.send([realm.moderator.id], content="not for all")
    me.post("messages/flags", messages=[read], op="add", flag="read")

    def ask() -> tuple[int, list[int]]:
        answer = me.get("users/me/unread", message_ids=[told, read, said, hidden, 10**15])
        return answer["badge_count"], answer["unread_message_ids"]

    before, ids = ask()
    assert ids == [told, said]
    check_success(me.request("PATCH", "settings", desktop_icon_count_display=2))
    assert ask()[0] == 1
    check_success(me.request("PATCH", "settings", desktop_icon_count_display=4))
    assert ask()[0] == 0
    check_success(me.request("PATCH", "settings", desktop_icon_count_display=1))
    me.post("messages/flags", messages=[told, said], op="add", flag="read")
    assert ask() == (before - 2, [])
