"""One writer does not stop the others: what their texts cost the thread that answers everybody is theirs to pay."""

import time

from tertulia.content.markup import render_description
from tertulia.messaging.sending.rendering_time import BURST_SECONDS, RenderingTime
from tests.harness.realm import Realm
from tests.harness.talk import Speaker, check_error, check_success

SLOW = "```c\na" + "\n" * 9_900 + "b\n```"
CODE = "```python\nreturn 1\n```"
EMOJI = "\N{SLIGHTLY SMILING FACE}"
COLOURED, PLAIN = '<span class="k">return</span>', "<code>return 1\n"


def rendered(speaker: Speaker, content: str) -> str:
    return str(speaker.post("messages/render", content=content)["rendered"])


def test_whoever_has_slow_code_coloured_has_none_coloured_for_a_while(realm: Realm) -> None:
    assert COLOURED in rendered(realm.member, CODE)
    for _ in range(12):
        rendered(realm.member, SLOW)
    channel = realm.stage.channel(realm.member, realm.owner, realm_id=realm.id)
    sent = realm.member.send(channel.stream_id, "topic", CODE)
    assert PLAIN in realm.owner.get(f"messages/{sent}")["message"]["content"]
    assert PLAIN in rendered(realm.member, CODE)
    assert COLOURED in rendered(realm.owner, CODE)


def test_what_a_bot_has_coloured_is_its_owners(realm: Realm) -> None:
    for bot in (realm.bot(realm.member), realm.bot(realm.member)):
        for _ in range(6):
            rendered(bot, SLOW)
    assert PLAIN in rendered(realm.member, CODE)
    assert COLOURED in rendered(realm.owner, CODE)


def test_what_rendering_takes_is_counted_for_whoever_writes() -> None:
    times = RenderingTime()
    with times.of(1) as seconds:
        began = time.thread_time()
        while time.thread_time() - began < BURST_SECONDS * 1.2:  # some of it comes back before we look
            pass
    with times.of(1) as left, times.of(2) as left_of_another:
        assert left == 0
    assert seconds == left_of_another > 0


def test_code_in_a_description_has_no_colours() -> None:
    assert PLAIN in render_description(CODE)


def test_a_description_of_nothing_but_emoji_is_shown_as_it_was_written() -> None:
    assert render_description(EMOJI * 10).count('class="emoji') == 10
    assert render_description(EMOJI * 1000) == f"<p>{EMOJI * 1000}</p>"
    assert render_description("<b>" + EMOJI * 1000).startswith("<p>&lt;b&gt;")


def test_descriptions_of_many_channels_that_are_made_at_once_have_a_bound(realm: Realm) -> None:
    long = [{"name": f"long {number}", "description": EMOJI * 1000} for number in range(21)]
    check_error(realm.member.request("POST", "users/me/subscriptions", subscriptions=long))
    realm.member.post("users/me/subscriptions", subscriptions=long[:2])


def test_of_a_profile_field_that_is_named_often_the_last_text_counts_and_is_rendered_once(realm: Realm) -> None:
    field = realm.owner.post("realm/profile_fields", name="About", field_type=2)["id"]
    entries = [{"id": field, "value": EMOJI * 400 + str(number)} for number in range(200)]
    began = time.monotonic()
    reply = realm.guest.request("PATCH", "users/me/profile_data", data=[*entries, {"id": field, "value": "the last"}])
    assert check_success(reply)
    assert time.monotonic() - began < 5
    profile = realm.guest.get("users/me", include_custom_profile_fields=True)["profile_data"]
    assert profile[str(field)]["value"] == "the last"
