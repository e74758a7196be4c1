"""Pictures from elsewhere: readers load nothing but from the server (protocol/messages.md#remote-pictures)."""

import re

import httpx
import pytest

from tests.harness.picture_server import picture_server
from tests.harness.server import Server
from tests.harness.talk import Queue, speaking

_SOURCE = re.compile(r'src="([^"]*)"')
_TEXT = """https://a.example/x.png

[film](https://a.example/x.mp4) ![sound](https://a.example/x.mp3) ![sound](//a.example/x.mp3) ![p](https://a.example/p.gif)

https://www.youtube.com/watch?v=abcdefghijk
"""


@pytest.mark.holds("remote-pictures.private")
def test_nothing_is_loaded_from_elsewhere(server: Server) -> None:
    with speaking(server, server.members[0]) as sender, speaking(server, server.members[1]) as reader:
        message = sender.send([reader.id], content=_TEXT)
        rendered = sender.post("messages/render", content=_TEXT)["rendered"]
        for html in (reader.message(message)["content"], rendered):
            assert [source for source in _SOURCE.findall(html) if not re.match(r"/[^/\\]", source)] == []
            assert 'href="https://a.example/x.mp4"' in html
            assert not re.search(r"<(audio|video|source|iframe|object|embed)", html)


@pytest.mark.own_server("the server fetches a picture from this machine")
@pytest.mark.holds("remote-pictures.fetched")
@pytest.mark.holds("remote-pictures.failed")
def test_a_picture_is_fetched_once_and_what_is_none_is_a_link(server: Server) -> None:
    with (
        picture_server() as elsewhere,
        speaking(server, server.members[0]) as sender,
        speaking(server, server.members[1]) as reader,
        Queue(reader, event_types=["message", "update_message"], apply_markdown=True) as queue,
    ):
        good, bad = elsewhere.show("/good.png"), f"{elsewhere.url}/bad.png"
        message = sender.send([reader.id], content=f"see {good}\n\nand {bad}")
        html = queue.message_event(message)["message"]["content"]
        first, second = re.findall(r'<img class="image-loading-placeholder" src="(/external_content/\d+/\w+)">', html)
        done = queue.until(
            lambda event: event["type"] == "update_message" and "placeholder" not in event["rendered_content"]
        )[-1]
        assert (done["message_id"], done["rendering_only"]) == (message, True)
        [source] = _SOURCE.findall(done["rendered_content"])
        assert source.startswith(f"{first}/")
        assert 'data-original-dimensions="1600x900"' in done["rendered_content"]
        assert f'<p>and <a href="{bad}">{bad}</a></p>' in done["rendered_content"]
        home = httpx.URL(reader.http.base_url)
        assert [reader.http.get(home.join(address)).status_code for address in (source, first, second)] == [
            200,
            200,
            404,
        ]
        assert set(elsewhere.counted.values()) == {1}
