"""Previews of links: the worker asks for the page once after the send, and its readers ask nobody but the server."""

import re
from collections.abc import Iterator
from functools import partial

import pytest

from tests.harness.channels import make
from tests.harness.files import fetch
from tests.harness.picture_server import PictureServer, picture_server
from tests.harness.realm import Realm
from tests.harness.talk import Queue, Speaker, check_success, eventually

HTML = "text/html; charset=utf-8"
TITLE = re.compile(r'<div class="message_embed_title"><a href="([^"]*)"')


def page(title: str = "A page", description: str = "What it is about", picture: str = "") -> bytes:
    image = f'<meta property="og:image" content="{picture}">' if picture else ""
    return (
        f'<!doctype html><html><head><title>not this</title><meta property="og:title" content="{title}">'
        f'<meta name="description" content="{description}">{image}</head><body>and so on</body></html>'
    ).encode()


@pytest.fixture
def elsewhere() -> Iterator[PictureServer]:
    with picture_server() as server:
        yield server


@pytest.fixture
def previewing(realm: Realm) -> Iterator[Realm]:
    switch(realm, is_on=True)
    yield realm
    switch(realm, is_on=False)


def switch(realm: Realm, *, is_on: bool) -> None:
    check_success(realm.owner.request("PATCH", "realm", inline_url_embed_preview=is_on))


def change(speaker: Speaker, message: int, content: str) -> None:
    check_success(speaker.request("PATCH", f"messages/{message}", content=content))


def content(speaker: Speaker, message: int) -> str:
    return str(speaker.message(message)["content"])


def previewed(speaker: Speaker, message: int) -> list[str]:
    """The addresses that have a preview below a message."""
    return TITLE.findall(content(speaker, message))


def settled(realm: Realm, message: int) -> str:
    """The message, once it waits for nothing."""
    sql = "select 1 from link_preview_wait where message_id = %s"
    eventually(lambda: not realm.stage.sql(sql, message), 40)
    return content(realm.member, message)


def test_a_page_is_asked_for_once_and_its_readers_are_told_without_an_edit(
    previewing: Realm, elsewhere: PictureServer
) -> None:
    realm = previewing
    channel = make(realm, realm.member, realm.owner)
    elsewhere.show("/face.png")
    url = elsewhere.hold("/page?a=1&b=2", page("Cats &amp; <dogs>", "All of <b>them</b>", "/face.png"), HTML)
    href = url.replace("&", "&amp;")
    with Queue(realm.owner, event_types=["message", "update_message"], apply_markdown=True) as queue:
        message = realm.member.send(channel.stream_id, "topic", f"look: {url}")
        sent = queue.until(lambda event: event["type"] == "message")[-1]["message"]["content"]
        assert sent == f'<p>look: <a href="{href}">{href}</a></p>'
        eventually(lambda: elsewhere.counted["/page?a=1&b=2"])
        elsewhere.let_go()
        event = queue.until(lambda event: event["type"] == "update_message")[-1]
    assert (event["rendering_only"], event["user_id"], event["message_id"]) == (True, None, message)
    html = event["rendered_content"]
    [address] = re.findall(r"url\(&quot;(/external_content/\d+/[0-9a-f]{64}/840x560\.webp)&quot;\)", html)
    assert html == (
        f'{sent}\n<div class="message_embed"><a class="message_embed_image" href="{href}" '
        f'style="background-image: url(&quot;{address}&quot;)"></a><div class="data-container">'
        f'<div class="message_embed_title"><a href="{href}" title="Cats &amp; &lt;dogs&gt;">Cats &amp; &lt;dogs&gt;</a></div>'
        '<div class="message_embed_description">All of &lt;b&gt;them&lt;/b&gt;</div></div></div>'
    )
    assert content(realm.owner, message) == html
    assert "last_edit_timestamp" not in realm.owner.message(message)
    nobody = realm.stage.nobody(host=realm.host)
    assert fetch(nobody, address).headers["content-type"] == "image/webp"
    # Another message, and another reader: nobody is asked again.
    again = realm.owner.send([realm.member.id], content=f"{url} again")
    eventually(lambda: previewed(realm.member, again) == [href], 40)
    assert elsewhere.counted == {"/page?a=1&b=2": 1, "/face.png": 1}
    for asked in elsewhere.asked:
        assert asked.headers["user-agent"].startswith("Tertulia/")
        assert not {"cookie", "authorization", "referer", "x-forwarded-for"} & asked.headers.keys()
    # What is known of a page is believed for a day.
    realm.stage.sql("update link_preview set settled_at = now() - interval '25 hours' where url = %s", url)
    elsewhere.show("/page?a=1&b=2", page("New"), HTML)
    third = realm.member.send(channel.stream_id, "topic", url)
    eventually(lambda: "New" in content(realm.owner, third), 40)
    assert "New" not in content(realm.owner, message)


def test_nobody_is_asked_unless_the_organization_wants_it(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    url = elsewhere.show("/page", page(), HTML)
    realm.member.send(channel.stream_id, "topic", url)
    assert not realm.stage.sql("select 1 from link_preview where realm_id = %s", realm.id)
    switch(realm, is_on=True)
    held = elsewhere.hold("/held", page(), HTML)
    message = realm.member.send(channel.stream_id, "topic", held)
    eventually(lambda: elsewhere.counted["/held"])
    switch(realm, is_on=False)
    elsewhere.let_go()
    assert "message_embed" not in settled(realm, message)
    assert elsewhere.counted == {"/held": 1}


def test_links_that_have_no_preview(previewing: Realm, elsewhere: PictureServer) -> None:
    realm = previewing
    channel = make(realm, realm.member)
    urls = [elsewhere.show(f"/{number}", page(f"Page {number}"), HTML) for number in range(8)]
    text = (
        f"```quote\n{urls[0]}\n```\n\n```spoiler what\n{urls[1]}\n```\n\n`{urls[2]}` [one]({urls[3]}) {urls[4]}\n\n"
        f"* {urls[5]}\n\n{urls[6]} {elsewhere.show('/picture.png')}"
    )
    message = realm.member.send(channel.stream_id, "topic", text)
    assert TITLE.findall(settled(realm, message)) == [urls[3], urls[4], urls[5]]
    bot = realm.bot(realm.member)
    from_bot = bot.send([realm.member.id], content=urls[7])
    assert not realm.stage.sql("select 1 from link_preview_wait where message_id = %s", from_bot)
    assert not {"/0", "/1", "/2", "/6", "/7"} & elsewhere.counted.keys()


def test_an_edit_wins_over_what_is_being_fetched_and_keeps_what_it_still_links(
    previewing: Realm, elsewhere: PictureServer
) -> None:
    realm = previewing
    channel = make(realm, realm.member, realm.owner)
    stays, late = elsewhere.show("/stays", page("Stays"), HTML), elsewhere.hold("/late", page("Late"), HTML)
    message = realm.member.send(channel.stream_id, "topic", f"{late} {stays}")
    eventually(lambda: previewed(realm.owner, message) == [stays], 40)
    eventually(lambda: elsewhere.counted["/late"])
    before = content(realm.owner, message)
    with Queue(realm.owner, event_types=["update_message"], apply_markdown=True) as queue:
        change(realm.member, message, f"only {stays}")
        event = queue.until(lambda event: not event["rendering_only"])[-1]
    assert (TITLE.findall(event["rendered_content"]), event["orig_rendered_content"]) == ([stays], before)
    other = realm.member.send(channel.stream_id, "topic", late)
    gone = realm.member.send(channel.stream_id, "topic", late)
    realm.member.delete(f"messages/{gone}")
    elsewhere.let_go()
    eventually(lambda: previewed(realm.owner, other) == [late], 40)
    assert previewed(realm.owner, message) == [stays]
    # A link that comes back has its preview again, in the order of the text; one that leaves takes it along.
    change(realm.member, message, f"{late} then {stays}")
    eventually(lambda: previewed(realm.owner, message) == [late, stays], 40)
    change(realm.member, message, "none")
    assert content(realm.owner, message) == "<p>none</p>"
    assert elsewhere.counted == {"/stays": 1, "/late": 1}


def test_the_author_removes_a_preview_for_good(previewing: Realm, elsewhere: PictureServer) -> None:
    realm = previewing
    channel = make(realm, realm.member, realm.owner)
    one, two = (elsewhere.show(f"/{name}", page(name), HTML) for name in ("one", "two"))
    message = realm.member.send(channel.stream_id, "topic", f"{one} {two}")
    eventually(lambda: previewed(realm.owner, message) == [one, two], 40)
    path = f"messages/{message}/link_previews"
    refused = realm.owner.request("DELETE", path, url=one)
    assert (refused.status_code, refused.json()["msg"]) == (400, "You don't have permission to edit this message.")
    with Queue(realm.owner, event_types=["update_message"], apply_markdown=True) as queue:
        realm.member.delete(path, url=one)
        event = queue.until(lambda event: True)[-1]
    assert (event["rendering_only"], TITLE.findall(event["rendered_content"])) == (True, [two])
    again = realm.member.request("DELETE", path, url=one)
    assert (again.status_code, again.json()["msg"]) == (400, "The message has no such preview.")
    change(realm.member, message, f"Now {one} {two}")
    assert TITLE.findall(settled(realm, message)) == [two]
    outsider = realm.guest.request("DELETE", path, url=two)
    assert outsider.json()["msg"] == realm.guest.request("DELETE", "messages/1/link_previews", url=two).json()["msg"]


def test_what_is_no_page_has_no_preview_and_is_not_asked_for_again_at_once(
    previewing: Realm, elsewhere: PictureServer
) -> None:
    realm = previewing
    channel = make(realm, realm.member)
    bad = [
        elsewhere.show("/data", b'{"title": "x"}', "application/json"),
        elsewhere.show("/untitled", b"<p>no title", HTML),
        elsewhere.redirect("/inside", "http://10.0.0.1/"),
        elsewhere.redirect("/disk", "file:///etc/hostname"),
        elsewhere.redirect("/round", "/round"),
        f"{elsewhere.url}/missing",
    ]
    messages = [realm.member.send(channel.stream_id, "topic", " ".join(part)) for part in (bad[:3], bad[3:])]
    assert [TITLE.findall(settled(realm, message)) for message in messages] == [[], []]
    asked = elsewhere.counted
    assert asked == {"/data": 1, "/untitled": 1, "/inside": 1, "/disk": 1, "/round": 4, "/missing": 1}
    settled(realm, realm.member.send(channel.stream_id, "topic", " ".join(bad[:3])))
    assert elsewhere.counted == asked
    # One in trouble is asked three times.
    broken = elsewhere.show("/broken", b"later", HTML, status=503)
    message = realm.member.send(channel.stream_id, "topic", broken)
    put_off = "select 1 from link_preview where url = %s and tries = %s and due < now() + interval '90 seconds'"
    for tries in (1, 2):
        eventually(partial(realm.stage.sql, put_off, broken, tries), 40)
        realm.stage.sql("update link_preview set due = now() where url = %s", broken)
    assert "message_embed" not in settled(realm, message)
    assert elsewhere.counted["/broken"] == 3


def test_a_long_page_is_read_up_to_a_limit_and_a_picture_that_is_none_is_left_out(
    previewing: Realm, elsewhere: PictureServer
) -> None:
    realm = previewing
    channel = make(realm, realm.member)
    long = page("Long", "", "http://10.0.0.1/inside.png").replace(b"and so on", b"x" * 2_000_000)
    message = realm.member.send(channel.stream_id, "topic", elsewhere.show("/long", long, HTML))
    html = settled(realm, message)
    assert "url(&quot;/static/images/link_preview.svg&quot;)" in html
    assert fetch(realm.member, "/static/images/link_preview.svg").headers["content-type"] == "image/svg+xml"
    assert realm.member.window(before=5, narrow=[{"operator": "has", "operand": "image"}])["messages"] == []


def test_one_person_does_not_have_too_many_pages_waiting(previewing: Realm, elsewhere: PictureServer) -> None:
    realm = previewing
    channel = make(realm, realm.member, realm.owner)
    fill = """
    insert into link_preview (realm_id, url, named_by, due)
    select %s, 'http://127.0.0.1:1/' || number, %s, 'infinity' from generate_series(1, 100) as number
    """
    realm.stage.sql(fill, realm.id, realm.member.id)
    url = elsewhere.show("/page", page(), HTML)
    message = realm.member.send(channel.stream_id, "topic", url)
    assert not realm.stage.sql("select 1 from link_preview_wait where message_id = %s", message)
    other = realm.owner.send(channel.stream_id, "topic", url)
    eventually(lambda: previewed(realm.owner, other) == [url], 40)
    realm.stage.sql("delete from link_preview where realm_id = %s", realm.id)
