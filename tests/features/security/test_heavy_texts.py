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


def test_the_time_that_somebody_has_used_comes_back() -> None:
    budget = RenderingTime()
    with budget.of(1) as seconds:
        began = time.thread_time()
        while time.thread_time() - began < 0.1:
            pass
    assert seconds > 0
    assert BURST_SECONDS - 0.2 < budget._left(1) < BURST_SECONDS - 0.05
    assert budget._left(2) == BURST_SECONDS
    soon = budget._left(1)
    time.sleep(0.2)
    assert budget._left(1) > soon


def test_code_in_a_description_has_no_colours() -> None:
    assert PLAIN in render_description(CODE)
