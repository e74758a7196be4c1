"""Values of settings that name people, while these come and go."""

from tests.harness.realm import Realm
from tests.harness.stage import holds_up
from tests.harness.talk import Json, Queue, check_success, eventually, unique


def test_whoever_goes_while_a_value_that_names_them_is_replaced_is_not_told_of_after_the_new_one(realm: Realm) -> None:
    owner, moderator = realm.owner, realm.moderator
    named = {"direct_members": sorted([owner.id, moderator.id]), "direct_subgroups": []}
    group_id = owner.post("user_groups/create", name=unique("crew"), description="", members=[owner.id])["group_id"]
    check_success(owner.request("PATCH", f"user_groups/{group_id}", can_mention_group={"new": named}))
    moderator.post("invites", invitee_emails=f"{unique('new').replace(' ', '.')}@example.com", stream_ids=[])
    with Queue(owner, event_types=["user_group"]) as queue, realm.stage.session() as execute:
        # What is taken back last of all when somebody goes: their groups have been looked at by then.
        execute("select from invitation where inviter_id = %s for update", moderator.id)
        going = owner.later("DELETE", f"users/{moderator.id}")
        eventually(lambda: holds_up(execute))
        replacing = owner.later("PATCH", f"user_groups/{group_id}", can_mention_group={"new": group_id})
        waiting = "select count(*) from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0"
        eventually(lambda: replacing.done() or realm.stage.sql(waiting)[0][0] > 1)
        execute("rollback")
        assert [one.result(30).status_code for one in (going, replacing)] == [200, 200]
        owner.post("user_groups/create", name=unique("last"), description="", members=[])
        events: list[Json] = []
        while not events or events[-1]["op"] != "add":
            events += queue.poll()
    told = [event["data"]["can_mention_group"] for event in events if "can_mention_group" in event.get("data", {})]
    [now] = [group["can_mention_group"] for group in owner.get("user_groups")["user_groups"] if group["id"] == group_id]
    assert told[-1] == now == group_id
