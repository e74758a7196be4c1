"""Public pages: a crawler finds what is open to the web and nothing else; what is gone is gone; what people write stays text."""

import json
import re
import time
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import httpx
import pytest

from tertulia.messaging.public_pages.cache import FRESH_SECONDS
from tertulia.messaging.public_pages.model import LOOKED_AT, PAGE_BYTES, PAGE_MESSAGES, PAGE_TOPICS, PART_TOPICS
from tests.harness.files import fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import Channel, Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_success

_HREF = re.compile(r'(?:<a\b[^<>]* href="|<link\b[^<>]* href="|<loc>|<id>|\]\()([^"<>)]*)')


class Square(NamedTuple):
    """An organization with a channel that anybody may read."""

    realm: Realm
    nobody: Speaker
    open: Channel


@pytest.fixture(scope="module")
def web(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web process of a server that allows such channels."""
    web = Web(server, tmp_path_factory.mktemp("open"), web_public_streams_enabled="true")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def square(stage: Stage, web: Web) -> Square:
    return open_square(stage, web)


def open_square(stage: Stage, web: Web) -> Square:
    realm = Realm(stage)
    channel = stage.channel(realm.member, realm_id=realm.id)
    stage.sql("update channel set is_web_public = true where id = %s", channel.stream_id)
    stage.sql("update realm set settings = settings || '{\"enable_spectator_access\": true}' where id = %s", realm.id)
    return Square(realm, stage.nobody(url=web.url, host=realm.host), channel)


def topic_path(stage: Stage, channel: Channel, topic: str) -> str:
    [(found,)] = stage.sql("select id from topic where conversation_id = %s and name = %s", channel.stream_id, topic)
    return f"/public/channels/{channel.stream_id}/topics/{found}"


def page(square: Square, path: str) -> str:
    reply = fetch(square.nobody, path)
    assert reply.status_code == 200, (path, reply.status_code)
    return reply.text


def nothing(square: Square) -> httpx.Response:
    return fetch(square.nobody, "/public/channels/999999999")


def is_missing(square: Square, path: str) -> bool:
    """Whether an address is answered like one that was never there."""
    reply, missing = fetch(square.nobody, path), nothing(square)
    assert missing.status_code == 404
    told = [
        {name: one.headers.get(name) for name in one.headers if name not in ("x-request-id", "date")}
        for one in (reply, missing)
    ]
    return (reply.status_code, reply.text) == (404, missing.text) and told[0] == told[1]


def wait_until_stale() -> None:
    time.sleep(FRESH_SECONDS + 0.05)


def crawl(square: Square, start: str, read: dict[str, str] | None = None) -> dict[str, str]:
    """Every page of our own below /public/ that links lead to, by its address; but for feeds, and for addresses of messages,
    which lead to these pages. `read`: what was read before."""
    read = {} if read is None else read
    found: dict[str, str] = {}
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = read.setdefault(path, read.get(path) or page(square, path))
        for link in links(found[path]):
            parts = urlsplit(link)
            assert parts.netloc in ("", square.realm.host), f"{path} leads to another organization: {link}"
            where = parts.path + (f"?{parts.query}" if parts.query else "")
            if where.startswith("/public/") and not re.search(r"/style/|/messages/|/feed\.atom", where):
                waiting.append(where)
    return found


def links(text: str) -> list[str]:
    return [unescape(one) for one in _HREF.findall(text)]


def add_topic(stage: Stage, square: Square, topic: str, text: str) -> str:
    """A topic with one message, faster than by sending it; its address."""
    channel, member = square.open.stream_id, square.realm.member
    [(seq,)] = stage.sql("update conversation set last_seq = last_seq + 1 where id = %s returning last_seq", channel)
    stage.sql(
        "with made as (insert into topic (conversation_id, name, name_key, last_seq) values (%s, %s, %s, %s) returning id)"
        " insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)"
        " select %s, %s, %s, id, %s, 'test', %s, %s from made",
        *(channel, topic, topic, seq, square.realm.id, channel, seq, member.id, text, f"<p>{text}</p>"),
    )
    return topic_path(stage, square.open, topic)


def test_a_crawler_finds_every_public_topic_and_nothing_else(stage: Stage, web: Web) -> None:
    here, elsewhere = open_square(stage, web), open_square(stage, web)
    second = stage.channel(here.realm.member, realm_id=here.realm.id)
    stage.sql("update channel set is_web_public = true where id = %s", second.stream_id)
    closed = {kind: stage.channel(here.realm.member, realm_id=here.realm.id) for kind in ("public", "archived")}
    closed |= {
        kind: stage.channel(here.realm.member, realm_id=here.realm.id, invite_only=True)
        for kind in ("private", "protected")
    }
    stage.sql("update channel set history_public_to_subscribers = false where id = %s", closed["protected"].stream_id)
    for channel in closed.values():
        here.realm.member.send(channel.stream_id, "secret topic", "secret words")
    stage.sql("update channel set is_archived = true, is_web_public = true where id = %s", closed["archived"].stream_id)
    elsewhere.realm.member.send(elsewhere.open.stream_id, "secret topic", "secret words")
    here.realm.member.send([here.realm.owner.id], content="secret words")
    expected = set()
    for number in range(PAGE_TOPICS + 3):
        expected.add(add_topic(stage, here, f"topic {number}", f"words {number}"))
    for number in range(PAGE_MESSAGES + 1):
        here.realm.member.send(second.stream_id, "long", f"long {number}")
    expected.add(topic_path(stage, second, "long"))

    read: dict[str, str] = {}
    feeds = [f"/public/channels/{channel.stream_id}/feed.atom" for channel in (here.open, second)]
    for start in ("/public/", "/sitemap.xml", "/llms.txt"):
        found = crawl(here, start, read) | {path: page(here, path) for path in feeds}
        topics = {path for path in found if re.fullmatch(r"/public/channels/\d+/topics/\d+", path)}
        assert topics == expected, start
        whole = "".join(found.values())
        assert "secret" not in whole
        assert all(f"words {number}<" in whole for number in range(PAGE_TOPICS + 3))
        assert all(f"long {number}<" in whole for number in range(PAGE_MESSAGES + 1))
        for channel in (*closed.values(), elsewhere.open):
            assert channel.name not in whole
            assert f"/channels/{channel.stream_id}" not in whole
    for kind, channel in {**closed, "of another organization": elsewhere.open}.items():
        path = topic_path(stage, channel, "secret topic")
        [(message_id,)] = stage.sql("select id from message where conversation_id = %s", channel.stream_id)
        for address in (
            *(f"/public/channels/{channel.stream_id}", f"/public/channels/{channel.stream_id}/feed.atom"),
            *(path, f"{path}/feed.atom", f"/public/messages/{message_id}"),
            path.replace(f"/{channel.stream_id}/", f"/{here.open.stream_id}/"),
        ):
            assert is_missing(here, address), (kind, address)


def test_without_a_switch_there_is_nothing_at_all(square: Square, stage: Stage) -> None:
    sent = square.realm.member.send(square.open.stream_id, "topic", "words")
    topic = topic_path(stage, square.open, "topic")
    pages = ["/public/", f"/public/channels/{square.open.stream_id}", topic, f"{topic}/feed.atom"]
    pages += [f"/public/channels/{square.open.stream_id}/feed.atom", "/public/sitemaps/channels.xml"]
    files = ["/public", "/robots.txt", "/sitemap.xml", "/llms.txt"]
    for path in (*pages, *files):
        assert fetch(square.nobody, path).status_code == 200, path
    assert fetch(square.nobody, f"/public/messages/{sent}").status_code == 302
    closed_server = Square(square.realm, stage.nobody(host=square.realm.host), square.open)
    check_nothing(closed_server, pages, files)
    stage.sql("update realm set settings = settings - 'enable_spectator_access' where id = %s", square.realm.id)
    wait_until_stale()
    check_nothing(square, [*pages, f"/public/messages/{sent}"], files)


def check_nothing(square: Square, pages: list[str], files: list[str]) -> None:
    for path in pages:
        assert is_missing(square, path), path
    for path in files:
        reply, absent = fetch(square.nobody, path), fetch(square.nobody, "/nothing.txt")
        assert (reply.status_code, reply.content) == (absent.status_code, absent.content) == (404, absent.content), path


def test_an_organization_that_was_deactivated_has_no_pages(square: Square, stage: Stage) -> None:
    square.realm.member.send(square.open.stream_id, "topic", "words")
    topic = topic_path(stage, square.open, "topic")
    assert "words" in page(square, topic)
    stage.sql("update realm set is_active = false where id = %s", square.realm.id)
    wait_until_stale()
    assert is_missing(square, topic)


def test_a_channel_that_was_closed_or_archived_is_gone(square: Square, stage: Stage) -> None:
    square.realm.member.send(square.open.stream_id, "topic", "words")
    topic = topic_path(stage, square.open, "topic")
    for change in ("is_web_public = not is_web_public", "is_archived = not is_archived"):
        assert "words" in page(square, topic)
        stage.sql(f"update channel set {change} where id = %s", square.open.stream_id)
        wait_until_stale()
        assert is_missing(square, topic)
        assert square.open.name not in page(square, "/public/")
        stage.sql(f"update channel set {change} where id = %s", square.open.stream_id)


def test_what_was_edited_deleted_or_moved_is_gone_within_the_bound(square: Square, stage: Stage) -> None:
    owner, channel = square.realm.owner, square.open.stream_id
    first, second, third = (owner.send(channel, "topic", f"word{number}") for number in range(3))
    topic = topic_path(stage, square.open, "topic")
    addresses = (topic, f"{topic}/feed.atom", f"/public/channels/{channel}/feed.atom")
    assert all(f"word{number}" in page(square, path) for path in addresses for number in range(3))
    tag = fetch(square.nobody, topic).headers["etag"]
    assert fetch(square.nobody, topic, If_None_Match=tag).status_code == 304
    check_success(owner.request("PATCH", f"messages/{first}", content="other"))
    owner.delete(f"messages/{second}")
    check_success(owner.request("PATCH", f"messages/{third}", topic="elsewhere", propagate_mode="change_one"))
    wait_until_stale()
    for path in addresses:
        text = page(square, path)
        assert "other" in text, path
        assert not any(f"word{number}" in text for number in (0, 1)), path
    assert "word2" not in page(square, topic)
    assert "word2" in page(square, topic_path(stage, square.open, "elsewhere"))
    assert fetch(square.nobody, topic, If_None_Match=tag).status_code == 200
    assert is_missing(square, f"/public/messages/{second}")
    moved = fetch(square.nobody, f"/public/messages/{third}").headers["location"]
    assert moved.startswith(topic_path(stage, square.open, "elsewhere"))
    assert moved.endswith(f"#m{third}")
    assert f'<article id="m{third}">' in page(square, moved)
    owner.delete(f"messages/{first}")
    wait_until_stale()
    assert is_missing(square, topic)


def test_a_page_is_kept_only_to_ask_whether_it_is_the_same(square: Square, stage: Stage) -> None:
    square.realm.member.send(square.open.stream_id, "topic", "words")
    topic = topic_path(stage, square.open, "topic")
    plain = fetch(square.nobody, topic, Accept_Encoding="identity")
    packed = fetch(square.nobody, topic, Accept_Encoding="gzip")
    assert plain.headers["cache-control"] == packed.headers["cache-control"] == "public, no-cache"
    assert (packed.headers["content-encoding"], packed.text) == ("gzip", plain.text)
    assert packed.headers["etag"] != plain.headers["etag"]
    assert "Accept-Encoding" in plain.headers["vary"]
    assert fetch(square.nobody, topic, "HEAD").content == b""
    assert fetch(square.nobody, topic, "POST").status_code == 405


def test_pages_of_a_topic_follow_each_other_with_each_message_once(square: Square, stage: Stage) -> None:
    sent = [
        square.realm.member.send(square.open.stream_id, "topic", f"n{number}")
        for number in range(2 * PAGE_MESSAGES + 3)
    ]
    path: str | None = topic_path(stage, square.open, "topic")
    seen, places = [], []
    while path is not None:
        text = page(square, path)
        places.append(path)
        seen += [int(one) for one in re.findall(r'<article id="m(\d+)">', text)]
        assert f'<link rel="canonical" href="http://{square.realm.host}{path}">' in text
        following = re.search(r'<link rel="next" href="([^"]*)">', text)
        path = following[1] if following else None
    assert seen == sent
    for path, before in zip(places[1:], places, strict=False):
        assert f'<link rel="prev" href="{before}">' in page(square, path)
    assert 'rel="prev"' not in page(square, places[0])
    first = f"{places[0]}?start={sent[0]}"
    assert f'<link rel="canonical" href="http://{square.realm.host}{places[0]}">' in page(square, first)
    assert is_missing(square, f"{places[0]}?start={sent[-1] + 1}")
    assert fetch(square.nobody, f"{places[0]}?start=x").status_code == 400


def test_very_long_messages_are_dealt_out_over_more_pages(square: Square, stage: Stage) -> None:
    sent = [square.realm.member.send(square.open.stream_id, "topic", f"n{number}") for number in range(6)]
    longer = f"<p>{'x' * (PAGE_BYTES // 2)}</p>"
    stage.sql("update message set rendered = %s where id = any(%s)", longer, sent[1:4])
    topic = topic_path(stage, square.open, "topic")
    pages = crawl(square, topic)
    shown = [re.findall(r'<article id="m(\d+)">', pages[path]) for path in (topic, f"{topic}?start={sent[3]}")]
    assert [[int(one) for one in ids] for ids in shown] == [sent[:3], sent[3:]]
    entries = ET.fromstring(page(square, f"{topic}/feed.atom")).findall("{*}entry")
    assert len(entries) == 4


def test_names_with_markup_stay_text_in_pages_feeds_and_data(square: Square, stage: Stage) -> None:
    evil = '</script><img src=x onerror="1">&\u202e'
    stage.sql("update account set full_name = %s where id = %s", evil, square.realm.member.id)
    stage.sql("update realm set name = %s, description = %s where id = %s", evil[:30], evil, square.realm.id)
    stage.sql(
        "update channel set name = %s, description = %s where id = %s",
        evil,
        f"[x](javascript:1) {evil}",
        square.open.stream_id,
    )
    topic = '</script><img src=x onerror="1">& \u0645\u0631\u062d\u0628\u0627'
    square.realm.member.send(square.open.stream_id, topic, f"{evil} ]]> \u0645")
    path = topic_path(stage, square.open, topic)
    channel = f"/public/channels/{square.open.stream_id}"
    for address in ("/public/", channel, path):
        text = page(square, address)
        assert "<img src=x" not in text
        assert text.count("<script") == text.count("</script>") == (1 if address == path else 0)
    [data] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page(square, path), re.DOTALL)
    said = json.loads(data)
    assert (said["@type"], said["headline"], said["author"]["name"]) == ("DiscussionForumPosting", topic, evil)
    for address in (f"{channel}/feed.atom", f"{path}/feed.atom"):
        [entry] = ET.fromstring(page(square, address)).findall("{*}entry")
        assert entry.findtext("{*}author/{*}name") == evil
    assert re.findall(r"(?<!\\)\]\((\w+):", page(square, "/llms.txt")) == ["http"]


def test_of_people_there_is_a_name_and_no_number_and_no_address(square: Square, stage: Stage) -> None:
    member, owner = square.realm.member, square.realm.owner
    stage.sql("update account set full_name = 'Ada Example' where id = %s", owner.id)
    member.send(square.open.stream_id, "topic", f"@**|{owner.id}** :heart: look")
    topic = topic_path(stage, square.open, "topic")
    for path in (topic, f"{topic}/feed.atom"):
        text = page(square, path)
        assert "@Ada Example" in text
        assert "❤" in text
        for secret in ("data-user-id", "/avatar/", f"user{member.id}@", member.email, owner.email, "@example.com"):
            assert secret not in text, secret


def test_a_spoiler_opens_without_scripts_and_is_not_told_in_the_description(square: Square, stage: Stage) -> None:
    told = "Before\n~~~spoiler The end\nShe *wins*\n```spoiler Really\nYes\n```\nand laughs\n~~~\nAfter"
    square.realm.member.send(square.open.stream_id, "topic", told)
    text = page(square, topic_path(stage, square.open, "topic"))
    opening = r'<details class="spoiler"><summary>\s*<p>The end</p>\s*</summary>'
    assert re.search(opening + r".*<em>wins</em>.*<details.*Yes.*</details>.*and laughs.*</details>", text, re.DOTALL)
    [description] = re.findall(r'<meta name="description" content="([^"]*)">', text)
    assert description == "Before After"
    [data] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["text"] == "Before After"


def test_files_of_public_messages_are_readable_and_others_are_not(square: Square, stage: Stage) -> None:
    member = square.realm.member
    shown, hidden = (upload(member, content=name) for name in (b"shown", b"hidden"))
    closed = stage.channel(member, realm_id=square.realm.id)
    member.send(square.open.stream_id, "topic", f"[file]({shown})")
    member.send(closed.stream_id, "topic", f"[file]({hidden})")
    text = page(square, topic_path(stage, square.open, "topic"))
    assert f'href="{shown}"' in text
    assert fetch(square.nobody, shown).content == b"shown"
    assert fetch(square.nobody, hidden).status_code == 404


def test_pages_bring_no_script_and_a_strict_policy(square: Square, stage: Stage) -> None:
    square.realm.member.send(square.open.stream_id, "topic", "words")
    for path in (
        "/public/",
        f"/public/channels/{square.open.stream_id}",
        topic_path(stage, square.open, "topic"),
        "/public/x",
    ):
        reply = fetch(square.nobody, path)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "unsafe" not in policy
        assert (reply.headers["x-content-type-options"], reply.headers["x-frame-options"]) == ("nosniff", "DENY")
        text = reply.text
        assert re.search(r'<html lang="[a-z]{2}" dir="ltr">', text)
        assert re.search(r"<title>[^<]+</title>", text)
        assert text.count("<h1") == 1
        [style] = re.findall(r'<link rel="stylesheet" href="([^"]*)">', text)
        sheet = fetch(square.nobody, style)
        assert (sheet.status_code, sheet.headers["content-type"]) == (200, "text/css")
        assert "immutable" in sheet.headers["cache-control"]


def test_pages_speak_the_language_of_the_organization(square: Square, stage: Stage) -> None:
    stage.sql('update realm set settings = settings || \'{"default_language": "es"}\' where id = %s', square.realm.id)
    text = page(square, "/public/")
    assert '<html lang="es" dir="ltr">' in text
    assert "Canales públicos" in text


def add_topics(square: Square, stage: Stage, first: int, last: int, per_topic: int = 1) -> None:
    """Topics with so many messages each, one after the other."""
    stage.sql(
        "insert into topic (conversation_id, name, name_key, last_seq)"
        " select %s, 't' || n, 't' || n, n * %s from generate_series(%s, %s) as n",
        *(square.open.stream_id, per_topic, first, last),
    )
    stage.sql(
        "insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)"
        " select %s, conversation_id, last_seq - n, id, %s, 'test', 'x', '<p>x</p>'"
        " from topic, generate_series(0, %s - 1) as n where conversation_id = %s and last_seq between %s and %s",
        *(square.realm.id, square.realm.member.id, per_topic),
        *(square.open.stream_id, first * per_topic, last * per_topic),
    )


def parts_of(square: Square) -> list[str]:
    index = ET.fromstring(page(square, "/sitemap.xml"))
    assert index.tag.endswith("sitemapindex")
    return [urlsplit(loc.text or "").path for loc in index.findall("{*}sitemap/{*}loc")]


def test_many_topics_make_a_sitemap_of_parts(square: Square, stage: Stage) -> None:
    channel, count = square.open.stream_id, 2 * PART_TOPICS + 1
    add_topics(square, stage, 1, count)
    parts = parts_of(square)
    assert len(parts) == 4
    listed = [
        urlsplit(loc.text or "").path
        for part in parts
        for loc in ET.fromstring(page(square, part)).findall("{*}url/{*}loc")
    ]
    topics = {path for path in listed if "/topics/" in path}
    assert len(topics) == count
    assert set(listed) - topics == {"/public/", f"/public/channels/{channel}"}
    assert is_missing(square, f"/public/sitemaps/channels/{channel}/999999999.xml")
    assert is_missing(square, "/public/sitemaps/channels/999999999/1.xml")


def test_all_topics_are_dealt_out_seldom_and_a_closed_channel_is_gone_at_once(square: Square, stage: Stage) -> None:
    """Crawlers may ask for it all the time, and it reads all topics."""
    other = stage.channel(square.realm.member, realm_id=square.realm.id)
    stage.sql("update channel set is_web_public = true where id = %s", other.stream_id)
    add_topics(square, stage, 1, PART_TOPICS + 1)
    add_topics(square._replace(open=other), stage, 1, PART_TOPICS + 1)
    parts = parts_of(square)
    assert len(parts) == 5
    add_topics(square, stage, 2 * PART_TOPICS, 3 * PART_TOPICS)
    time.sleep(FRESH_SECONDS)
    assert parts_of(square) == parts
    stage.sql("update channel set is_web_public = false where id = %s", other.stream_id)
    time.sleep(FRESH_SECONDS)
    assert parts_of(square) == [part for part in parts if f"/{other.stream_id}/" not in part]
    assert is_missing(square, next(part for part in parts if f"/{other.stream_id}/" in part))


def test_a_page_of_topics_looks_at_so_many_messages_and_older_topics_are_found_behind_it(
    square: Square, stage: Stage
) -> None:
    add_topics(square, stage, 1, 3, LOOKED_AT)
    path = f"/public/channels/{square.open.stream_id}"
    pages = crawl(square, path)
    listed = [re.findall(r">(t\d)</a>", pages[one]) for one in pages if one.partition("?")[0] == path]
    assert sorted(listed) == [["t1"], ["t2"], ["t3"]]
    assert is_missing(square, f"{path}?before=1")


def test_robots_are_led_to_the_pages_and_away_from_all_else(square: Square) -> None:
    text = page(square, "/robots.txt")
    assert "Allow: /public/\n" in text
    assert "Disallow: /\n" in text
    assert f"Sitemap: http://{square.realm.host}/sitemap.xml" in text
    assert page(square, "/public") == page(square, "/public/")
