"""Custom profile fields and what people say in them."""

import json
from typing import Any

import pytest

import tertulia.people.profiles.routes
from tests.harness.counting import counting
from tests.harness.realm import Realm, listening, people_events
from tests.harness.stage import at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

PATH = "realm/profile_fields"
OWN = "users/me/profile_data"
CHOICES = {"a": {"text": "Apple", "order": "1"}, "b": {"text": "Banana", "order": "2"}}
PATTERN = {"subtype": "custom", "url_pattern": "https://example.com/%(username)s"}
TYPES = range(1, 9)
DATA: dict[int, Json] = {3: CHOICES, 7: PATTERN}


def make(realm: Realm, field_type: int = 1, **fields: Any) -> int:
    asked = {"name": unique("field"), "field_type": field_type, "field_data": DATA.get(field_type), **fields}
    made: int = realm.administrator.post(PATH, **asked)["id"]
    return made


def fields_of(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.get(PATH)["custom_fields"]
    return found


def say(speaker: Speaker, field_id: int, value: object) -> None:
    check_success(speaker.request("PATCH", OWN, data=[{"id": field_id, "value": value}]))


def refused(speaker: Speaker, field_id: int, value: object) -> str:
    return check_error(speaker.request("PATCH", OWN, data=[{"id": field_id, "value": value}]))


def said(reader: Speaker, speaker: Speaker) -> Json:
    user = reader.get(f"users/{speaker.id}", include_custom_profile_fields=True)["user"]
    found: Json = user["profile_data"]
    return found


# Fields


def test_a_field_is_listed_in_all_its_parts(realm: Realm) -> None:
    plain = make(realm, name=" Nickname ")
    asked = {"name": "Fruit", "hint": "One of them", "required": True, "editable_by_user": False}
    chosen = make(realm, 3, **asked, display_in_profile_summary=True)
    matched = make(realm, 7, name="Site", use_for_user_matching=True)
    for reader in realm.all:
        first, second, third = fields_of(reader)
        assert first == {
            "id": plain,
            "type": 1,
            "order": 1,
            "name": "Nickname",
            "hint": "",
            "field_data": "",
            "required": False,
            "editable_by_user": True,
        }
        assert json.loads(second.pop("field_data")) == CHOICES
        assert second == {"id": chosen, "type": 3, "order": 2, **asked, "display_in_profile_summary": True}
        assert json.loads(third["field_data"]) == PATTERN
        assert (third["id"], third["use_for_user_matching"]) == (matched, True)


def test_a_known_place_brings_its_name(realm: Realm) -> None:
    make(realm, 7, name="", field_data={"subtype": "github"})
    [field] = fields_of(realm.member)
    assert (field["name"], field["field_data"]) == ("GitHub username", '{"subtype":"github"}')
    state = Queue(realm.member, event_types=[], fetch_event_types=["realm"]).state
    assert "%(username)s" in state["realm_default_external_accounts"]["github"]["url_pattern"]


@pytest.mark.parametrize(
    ("wrong", "msg"),
    [
        ({"name": "  "}, "Label cannot be blank."),
        ({"name": "x" * 41}, "too long"),
        ({"hint": "x" * 81}, "too long"),
        ({"field_type": 0}, "Invalid field type."),
        ({"field_type": 9}, "Invalid field type."),
        ({"field_type": "text"}, "field_type"),
        ({"field_type": 3, "field_data": {}}, "Field must have at least one choice."),
        ({"field_type": 3, "field_data": {"a": {"text": "A"}}}, "order"),
        ({"field_type": 3, "field_data": {"a": {"text": " ", "order": "1"}}}, "text"),
        ({"field_type": 3, "field_data": {"a": {"text": "A", "order": "1"}, "b": {"text": "a", "order": "2"}}}, "dup"),
        ({"field_type": 3, "field_data": {str(n): {"text": str(n), "order": n} for n in range(201)}}, "limit"),
        ({"field_type": 7, "field_data": {}}, "subtype"),
        ({"field_type": 7, "field_data": {"subtype": "nowhere"}}, "external account"),
        ({"field_type": 7, "field_data": {"subtype": "custom"}}, "%(username)s"),
        ({"field_type": 7, "field_data": {"subtype": "custom", "url_pattern": "https://e.com/%s"}}, "%(username)s"),
        ({"field_type": 7, "field_data": {"subtype": "custom", "url_pattern": "javascript:%(username)s"}}, "URL"),
        ({"field_type": 1, "field_data": CHOICES}, "field_data"),
        ({"field_type": 1, "field_data": []}, "field_data"),
        ({"field_type": 6, "display_in_profile_summary": True}, "summary"),
        ({"field_type": 4, "use_for_user_matching": True}, "find"),
    ],
)
def test_what_cannot_be_a_field_is_refused(realm: Realm, wrong: Json, msg: str) -> None:
    asked = {"name": "Field", "field_type": 1, **wrong}
    assert msg in check_error(realm.administrator.request("POST", PATH, **asked))
    assert fields_of(realm.member) == []


def test_a_label_is_used_once_whatever_its_case(realm: Realm) -> None:
    make(realm, name="Team")
    other = make(realm, name="Other")
    for request in (("POST", PATH, {"name": "TEAM", "field_type": 2}), ("PATCH", f"{PATH}/{other}", {"name": "team"})):
        method, path, fields = request
        msg = check_error(realm.administrator.request(method, path, **fields))
        assert msg == "A field with that label already exists."
    replies = at_once([lambda: realm.administrator.request("POST", PATH, name="Twice", field_type=1)] * 4)
    assert sorted(reply.status_code for reply in replies) == [200, 400, 400, 400]


def test_two_fields_at_most_are_in_the_summary(realm: Realm) -> None:
    make(realm, display_in_profile_summary=True)

    def add() -> int:
        asked = {"name": unique("field"), "field_type": 1, "display_in_profile_summary": True}
        return realm.owner.request("POST", PATH, **asked).status_code

    assert sorted(at_once([add] * 3)) == [200, 400, 400]
    third = make(realm)
    check_error(realm.owner.request("PATCH", f"{PATH}/{third}", display_in_profile_summary=True))


def test_a_field_changes_in_what_is_passed(realm: Realm) -> None:
    field_id = make(realm, name="Before", hint="Hint", required=True)
    [before] = fields_of(realm.member)
    check_success(realm.owner.request("PATCH", f"{PATH}/{field_id}", name="After", editable_by_user=False))
    assert fields_of(realm.member) == [before | {"name": "After", "editable_by_user": False}]
    for wrong in ({"name": ""}, {"hint": "x" * 81}, {"field_data": CHOICES}):
        check_error(realm.owner.request("PATCH", f"{PATH}/{field_id}", **wrong))
    for method in ("PATCH", "DELETE"):
        msg = check_error(realm.owner.request(method, f"{PATH}/{field_id + 10**6}", name="X"))
        assert msg == f"Field id {field_id + 10**6} not found."


def test_fields_are_put_in_order(realm: Realm) -> None:
    ids = [make(realm) for _ in range(3)]
    wanted = [ids[2], ids[0], ids[1]]
    check_success(realm.owner.request("PATCH", PATH, order=wanted))
    assert [(field["id"], field["order"]) for field in fields_of(realm.member)] == list(
        zip(wanted, (1, 2, 3), strict=True)
    )
    for wrong in ([], ids[:2], [*ids, ids[0]], [*ids[:2], 999999999]):
        check_error(realm.owner.request("PATCH", PATH, order=wrong))
    new = make(realm)
    assert [field["id"] for field in fields_of(realm.member)] == [*wanted, new]


def test_only_administrators_define_fields(realm: Realm) -> None:
    field_id = make(realm)
    changes: list[tuple[str, str, Json]] = [
        ("POST", PATH, {"name": "X", "field_type": 1}),
        ("PATCH", PATH, {"order": [field_id]}),
    ]
    changes += [("PATCH", f"{PATH}/{field_id}", {"name": "X"}), ("DELETE", f"{PATH}/{field_id}", {})]
    for speaker in (realm.moderator, realm.member, realm.guest, realm.bot(realm.member)):
        for method, path, fields in changes:
            check_error(speaker.request(method, path, **fields), "UNAUTHORIZED_PRINCIPAL")
    assert [field["id"] for field in fields_of(realm.guest)] == [field_id]


def test_fields_of_other_organizations_are_out_of_reach(realm: Realm) -> None:
    field_id = make(realm)
    other = Realm(realm.stage)
    check_error(other.owner.request("DELETE", f"{PATH}/{field_id}"))
    check_error(other.owner.request("PATCH", f"{PATH}/{field_id}", name="Mine"))
    assert "not found" in refused(other.owner, field_id, "x")
    assert fields_of(other.owner) == []
    assert len(fields_of(realm.member)) == 1


def test_everybody_hears_the_whole_list_when_it_changes(realm: Realm) -> None:
    queue = Queue(
        realm.guest, event_types=["custom_profile_fields", "message"], fetch_event_types=["custom_profile_fields"]
    )
    assert queue.state["custom_profile_fields"] == []
    names = queue.state["custom_profile_field_types"]
    assert {name: kind["id"] for name, kind in names.items()} == {
        "SHORT_TEXT": 1,
        "PARAGRAPH": 2,
        "DROPDOWN": 3,
        "DATE": 4,
        "URL": 5,
        "USER": 6,
        "EXTERNAL_ACCOUNT": 7,
        "PRONOUNS": 8,
    }
    lists = []
    first, second = make(realm), make(realm)
    lists.append(fields_of(realm.guest))
    check_success(realm.owner.request("PATCH", PATH, order=[second, first]))
    lists.append(fields_of(realm.guest))
    check_success(realm.owner.request("PATCH", PATH, order=[second, first]))  # changes nothing: no event
    [name] = [field["name"] for field in lists[-1] if field["id"] == first]
    check_success(realm.owner.request("PATCH", f"{PATH}/{first}", name=name))  # neither does this
    check_success(realm.owner.request("PATCH", f"{PATH}/{first}", name="Renamed"))
    lists.append(fields_of(realm.guest))
    check_success(realm.owner.request("DELETE", f"{PATH}/{second}"))
    lists.append(fields_of(realm.guest))
    events = queue.so_far()
    assert [event["type"] for event in events] == ["custom_profile_fields"] * 5
    assert [event["fields"] for event in events[1:]] == lists
    state = Queue(realm.guest, event_types=[], fetch_event_types=["custom_profile_fields"]).state
    assert state["custom_profile_fields"] == lists[-1]


# Values


@pytest.mark.holds("user.profile-data")
@pytest.mark.parametrize(
    ("field_type", "value", "stored"),
    [
        (1, "Tea & <biscuits>", {"rendered_value": "<p>Tea &amp; &lt;biscuits&gt;</p>"}),
        (2, "One\nTwo", {"rendered_value": "<p>One<br>\nTwo</p>"}),
        (3, "b", {}),
        (4, "1999-12-31", {}),
        (5, "https://example.com/path?x=1#y", {}),
        (7, "ada", {}),
        (8, "she/her", {}),
    ],
)
def test_each_type_takes_its_values(realm: Realm, field_type: int, value: str, stored: Json) -> None:
    field_id = make(realm, field_type)
    say(realm.member, field_id, value)
    assert said(realm.guest, realm.member) == {str(field_id): {"value": value, **stored}}
    assert realm.member.get("users/me")["profile_data"] == said(realm.guest, realm.member)


@pytest.mark.parametrize(
    ("field_type", "wrong"),
    [
        *[(kind, "x" * 51) for kind in (1, 7, 8)],
        (2, "x" * 501),
        *[(3, value) for value in ("c", "Apple")],
        *[(4, value) for value in ("1999-02-30", "99-1-1", "today", "1999-12-31T00:00")],
        *[
            (5, value)
            for value in ("example.com", "javascript:alert(1)", "ftp://example.com/", "https://", "http://a b")
        ],
        (5, "https://example.com/" + "x" * 2000),
        *[(kind, [1]) for kind in (1, 2, 3, 4, 5, 7, 8)],
        *[(6, value) for value in ("somebody", "[1.5]", '["1"]', "{}", [999999999], "[99999999999999999999]")],
        *[(kind, 5) for kind in TYPES],
        *[(kind, {"value": "x"}) for kind in TYPES],
    ],
)
def test_what_a_type_does_not_take_is_refused(realm: Realm, field_type: int, wrong: object) -> None:
    field_id = make(realm, field_type)
    refused(realm.member, field_id, wrong)
    assert said(realm.member, realm.member) == {}


def test_the_longest_texts_are_taken_as_they_are(realm: Realm) -> None:
    short, long = make(realm), make(realm, 2)
    data = [{"id": short, "value": "é" * 50}, {"id": long, "value": "é" * 500}]
    check_success(realm.member.request("PATCH", OWN, data=data))
    assert [one["value"] for one in said(realm.member, realm.member).values()] == ["é" * 50, "é" * 500]


def test_users_are_active_people_of_the_organization(realm: Realm) -> None:
    field_id = make(realm, 6)
    say(realm.member, field_id, [realm.owner.id, realm.guest.id, realm.owner.id])
    assert said(realm.member, realm.member) == {str(field_id): {"value": f"[{realm.owner.id},{realm.guest.id}]"}}
    say(realm.member, field_id, f"[{realm.owner.id}]")
    assert said(realm.member, realm.member) == {str(field_id): {"value": f"[{realm.owner.id}]"}}
    gone = realm.speaker()
    realm.owner.delete(f"users/{gone.id}")
    elsewhere = Realm(realm.stage).member
    for wrong in (realm.bot(realm.owner), gone, elsewhere):
        assert str(wrong.id) in refused(realm.member, field_id, [wrong.id])
    say(realm.member, field_id, [])
    assert said(realm.member, realm.member) == {}


def test_a_dropdown_says_what_is_wrong(realm: Realm) -> None:
    field_id = make(realm, 3, name="Fruit")
    assert refused(realm.member, field_id, "x") == "'x' is not a valid choice for 'Fruit'."


def test_nothing_is_stored_if_one_entry_is_wrong(realm: Realm) -> None:
    first, second = make(realm), make(realm, 4)
    data = [{"id": first, "value": "ok"}, {"id": second, "value": "never"}]
    check_error(realm.member.request("PATCH", OWN, data=data))
    assert said(realm.member, realm.member) == {}


@pytest.mark.parametrize(
    "data", ["x", {}, [1], [{"value": "x"}], [{"id": "1", "value": "x"}], [{"id": 1, "value": "a\0b"}]]
)
def test_data_is_a_list_of_entries(realm: Realm, data: object) -> None:
    assert "data" in check_error(realm.member.request("PATCH", OWN, data=data))


def test_what_was_said_is_taken_back(realm: Realm) -> None:
    first, second = make(realm), make(realm, 2)
    for field_id in (first, second):
        say(realm.member, field_id, "something")
    realm.member.delete(OWN, data=[first])
    assert said(realm.member, realm.member).keys() == {str(second)}
    say(realm.member, second, "  ")
    assert said(realm.member, realm.member) == {}
    realm.member.delete(OWN, data=[first, second])
    assert "not found" in check_error(realm.member.request("DELETE", OWN, data=[999999999]))


def test_some_fields_are_for_administrators_to_fill(realm: Realm) -> None:
    field_id = make(realm, editable_by_user=False)
    refused(realm.member, field_id, "x")
    check_error(realm.member.request("DELETE", OWN, data=[field_id]))
    say(realm.administrator, field_id, "x")
    data = [{"id": field_id, "value": "given"}]
    check_success(realm.administrator.request("PATCH", f"users/{realm.member.id}", profile_data=data))
    check_success(realm.administrator.request("PATCH", f"users/{realm.guest.email}", profile_data=data))
    for speaker in (realm.member, realm.guest):
        assert said(realm.owner, speaker)[str(field_id)]["value"] == "given"
    empty = [{"id": field_id, "value": ""}]
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", full_name="Both", profile_data=empty))
    assert said(realm.owner, realm.member) == {}
    assert realm.member.get("users/me")["full_name"] == "Both"


def test_others_and_bots_are_not_spoken_for(realm: Realm) -> None:
    field_id, bot = make(realm), realm.bot(realm.member)
    data = [{"id": field_id, "value": "x"}]
    check_error(realm.moderator.request("PATCH", f"users/{realm.member.id}", profile_data=data))
    for speaker in (realm.member, realm.owner):
        check_error(speaker.request("PATCH", f"users/{bot.id}", profile_data=data))
    check_error(bot.request("PATCH", OWN, data=data))
    assert "profile_data" not in realm.member.get(f"users/{bot.id}", include_custom_profile_fields=True)["user"]


def test_everybody_hears_what_people_say(realm: Realm) -> None:
    text, day = make(realm), make(realm, 4)
    queue = listening(realm.guest)
    data = [{"id": text, "value": "Hi"}, {"id": day, "value": "2020-01-01"}]
    check_success(realm.member.request("PATCH", OWN, data=data))
    check_success(realm.member.request("PATCH", OWN, data=data))  # changes nothing: no event
    realm.member.delete(OWN, data=[text])
    realm.member.delete(OWN, data=[text])
    assert [event["person"] for event in people_events(queue)] == [
        {
            "user_id": realm.member.id,
            "custom_profile_field": {"id": text, "value": "Hi", "rendered_value": "<p>Hi</p>"},
        },
        {"user_id": realm.member.id, "custom_profile_field": {"id": day, "value": "2020-01-01"}},
        {"user_id": realm.member.id, "custom_profile_field": {"id": text, "value": None}},
    ]


def test_a_choice_that_is_gone_is_nobodys(realm: Realm) -> None:
    field_id = make(realm, 3)
    for speaker, value in ((realm.member, "a"), (realm.guest, "a"), (realm.owner, "b")):
        say(speaker, field_id, value)
    queue = listening(realm.moderator, "custom_profile_fields")
    left = {"b": CHOICES["b"], "c": {"text": "Cherry", "order": 3}}
    check_success(realm.owner.request("PATCH", f"{PATH}/{field_id}", field_data=left))
    *lost, listed = queue.so_far()
    gone = {"id": field_id, "value": None}
    assert [event["person"] for event in lost] == [
        {"user_id": speaker.id, "custom_profile_field": gone} for speaker in (realm.member, realm.guest)
    ]
    assert json.loads(listed["fields"][0]["field_data"]) == left | {"c": {"text": "Cherry", "order": "3"}}
    assert said(realm.owner, realm.member) == said(realm.owner, realm.guest) == {}
    assert said(realm.owner, realm.owner) == {str(field_id): {"value": "b"}}


def test_a_field_takes_its_values_along(realm: Realm) -> None:
    field_id = make(realm)
    say(realm.member, field_id, "x")
    before = realm.owner.get("users", include_custom_profile_fields=True)["members"]
    realm.administrator.delete(f"{PATH}/{field_id}")
    after = realm.owner.get("users", include_custom_profile_fields=True)["members"]
    assert {"value": "x", "rendered_value": "<p>x</p>"} in [value for one in before for value in _profile(one).values()]
    assert [value for one in after for value in _profile(one).values()] == []


def _profile(user: Json) -> Json:
    found: Json = user.get("profile_data", {})
    return found


# Many at once


def test_people_speak_while_fields_come_and_go(realm: Realm) -> None:
    """Nobody waits in a circle, and what is left fits together."""
    fields = [make(realm, 3), make(realm), make(realm)]
    queue = listening(realm.owner, "custom_profile_fields")

    def work(number: int) -> list[int]:
        speaker = realm.all[number % 5]
        data = [{"id": fields[1], "value": f"said {number}"}, {"id": fields[0], "value": "ab"[number % 2]}]
        choices = {"b": CHOICES["b"]} if number % 3 else CHOICES
        works = [
            speaker.request("PATCH", OWN, data=data),
            realm.administrator.request("PATCH", f"users/{speaker.id}", full_name=f"Name {number}", profile_data=data),
            realm.owner.request("PATCH", f"{PATH}/{fields[0]}", field_data=choices),
            realm.owner.request("DELETE", f"{PATH}/{fields[2]}"),
            realm.administrator.request("POST", PATH, name=f"Field {number}", field_type=1),
        ]
        return [reply.status_code for reply in works]

    statuses = [code for codes in at_once([lambda n=n: work(n) for n in range(8)]) for code in codes]  # type: ignore[misc]
    assert set(statuses) == {200, 400}
    told: dict[int, dict[str, str]] = {}
    last: list[Json] = []
    for event in queue.so_far():
        if event["type"] == "realm_user" and (field := event["person"].get("custom_profile_field")):
            own = told.setdefault(event["person"]["user_id"], {})
            own.pop(str(field["id"]), None)
            if field["value"] is not None:
                own[str(field["id"])] = field["value"]
        elif event["type"] == "custom_profile_fields":
            last = event["fields"]
    assert last == fields_of(realm.owner)
    for speaker in realm.all:
        stored = {key: value["value"] for key, value in said(realm.owner, speaker).items()}
        assert stored == told.get(speaker.id, {})


async def test_what_a_request_asks_of_the_database_does_not_grow_with_fields_and_values(realm: Realm) -> None:
    chosen = make(realm, 3)
    fields = [make(realm) for _ in range(6)]

    def data(count: int, word: str) -> str:
        return json.dumps([{"id": field_id, "value": word} for field_id in fields[:count]])

    async with counting(realm.stage.server.postgres_url, tertulia.people.profiles.routes) as counter:

        async def cost(method: str, path: str, **fields: str) -> int:
            return await counter.cost(realm.owner.user, method, path, realm.host, **fields)

        assert await cost("PATCH", OWN, data=data(1, "one")) == await cost("PATCH", OWN, data=data(6, "six")) <= 9
        one = await cost("PATCH", f"{PATH}/{chosen}", field_data=json.dumps({"a": CHOICES["a"]}))
        check_success(realm.owner.request("PATCH", f"{PATH}/{chosen}", field_data=CHOICES))
        for speaker in realm.all:
            say(speaker, chosen, "b")
        many = await cost("PATCH", f"{PATH}/{chosen}", field_data=json.dumps({"a": CHOICES["a"]}))
        assert many <= one + 1
