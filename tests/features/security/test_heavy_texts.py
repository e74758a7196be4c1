"""One writer does not stop the others: what their texts cost the thread that answers everybody is theirs to pay."""

import time

from tertulia.content.markup import render_description
from tertulia.messaging.sending.rendering_time import BURST_SECONDS, RenderingTime
from tests.harness.realm import Realm
from tests.harness.talk import Speaker

SLOW = "```c\na" + "\n" * 9_900 + "b\n```"
CODE = "```python\nreturn 1\n```"
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
        while time.thread_time() - began < BURST_SECONDS:
            pass
    with times.of(1) as left, times.of(2) as left_of_another:
        assert left == 0
    assert seconds == left_of_another > 0


def test_code_in_a_description_has_no_colours() -> None:
    assert PLAIN in render_description(CODE)
