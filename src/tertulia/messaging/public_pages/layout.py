"""How public pages look: plain HTML without scripts, for light and dark screens, for phones and readers (pure)."""

import hashlib
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from tertulia.content.markup.references import encode_operand, slug
from tertulia.messaging.public_pages.content import page_content, plain_text
from tertulia.messaging.public_pages.model import PublicChannel, PublicMessage, PublicTopic, Site, Thread
from tertulia.messaging.public_pages.moments import iso, shown
from tertulia.messaging.public_pages.structured import posting_of
from tertulia.messaging.public_pages.templates import Html, fill, joined
from tertulia.messaging.public_pages.words import Words, words_of

INDEX = "/public/"
HTML = "text/html; charset=utf-8"
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"}
DESCRIPTION = 160
"""Characters of a page's description: search engines show no more."""
COLOURS = 6

_PAGE = Template("""<!doctype html>
<html lang="$language" dir="$direction">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<meta name="description" content="$description">
<meta property="og:title" content="$title">
<meta property="og:description" content="$description">
<meta property="og:site_name" content="$realm">
<link rel="canonical" href="$canonical">
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="$style">
$links
</head>
<body>
<a class="skip" href="#content">$skip</a>
<div class="page">
<header class="top">
<nav aria-label="$path"><ol>$crumbs</ol></nav>
<a href="$enter">$take_part</a>
</header>
<main id="content">
<h1 dir="auto">$heading</h1>
$body
</main>
<footer>$foot</footer>
</div>
</body>
</html>
""")
_CRUMB = Template('<li><a href="$address"><bdi>$name</bdi></a></li>')
_LINK = Template('<link rel="$kind" href="$address">')
_FEED = Template('<link rel="alternate" type="application/atom+xml" href="$address" title="$title">')
_ANCHOR = Template('<a href="$address">$words</a>')
_REL_ANCHOR = Template('<a rel="$kind" href="$address">$words</a>')
_ABOUT = Template('<p class="about" dir="auto">$text</p>')
_LIST = Template('<ul class="list">\n$items\n</ul>')
_MORE = Template('<nav class="more" aria-label="$label">$links</nav>')
_CHANNEL = Template('<li><h2 dir="auto"><a href="$address">#$name</a></h2><p dir="auto">$text</p></li>')
_TOPIC = Template('<li><h2 dir="auto"><a href="$address">$name</a></h2><time datetime="$iso">$moment</time></li>')
_MESSAGE = Template("""<article id="m$id">
$face
<div>
<div class="who"><h2><bdi>$author</bdi></h2>
<a href="$address" aria-label="$label"><time datetime="$iso">$moment</time></a></div>
<div class="said" dir="auto">
$content
</div>
</div>
</article>""")
_PICTURE = Template('<img class="face" src="$address" alt="" width="40" height="40" loading="lazy">')
_LETTER = Template('<span class="face tint$colour" aria-hidden="true">$letter</span>')
_DATA = Template('<script type="application/ld+json">$json</script>')
_MISSING = Template("""<!doctype html>
<html lang="$language" dir="$direction">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
<title>$title</title><link rel="stylesheet" href="$style"></head>
<body><div class="page"><main><h1>$title</h1></main></div></body>
</html>
""")


@cache
def style_sheet() -> tuple[str, bytes]:
    """The address of the style sheet, which changes with it, and its bytes."""
    body = files("tertulia.messaging.public_pages").joinpath("style.css").read_bytes()
    return hashlib.blake2b(body, digest_size=8).hexdigest(), body


def style_path() -> str:
    """Where the style sheet is."""
    return f"/public/style/{style_sheet()[0]}.css"


def index_page(site: Site, channels: Sequence[PublicChannel]) -> Html:
    """The channels of an organization that are open to the web."""
    words = _words(site)
    about = words.about_index.format(realm=site.realm.name)
    items = joined(
        fill(_CHANNEL, address=one.path, name=one.name, text=plain_text(page_content(one.rendered_description), 300))
        for one in channels
    )
    body = fill(_LIST, items=items) if channels else fill(_ABOUT, text=words.no_channels)
    return _page(
        site,
        title=f"{words.public_channels} · {site.realm.name}",
        heading=words.public_channels,
        description=site.realm.description or about,
        path=INDEX,
        body=joined([fill(_ABOUT, text=about), body]),
        crumbs=[(site.realm.name, INDEX)],
    )


def channel_page(
    site: Site, channel: PublicChannel, topics: Sequence[PublicTopic], before: int | None, earlier: int | None
) -> Html:
    """The topics of a channel, newest first. `before`: of which page; `earlier`: of the next one, if there may be older ones."""
    words = _words(site)
    text = plain_text(page_content(channel.rendered_description), 1000)
    items = joined(
        fill(_TOPIC, address=one.path, name=title_of(site, one.name), iso=iso(one.active), moment=shown(one.active))
        for one in topics
    )
    pages = []
    if before is not None:
        pages.append(fill(_ANCHOR, address=channel.path, words=words.newest_topics))
    if earlier is not None:
        address = f"{channel.path}?before={earlier}"
        pages.append(fill(_REL_ANCHOR, kind="next", address=address, words=words.older_topics))
    body = [
        fill(_ABOUT, text=text or words.about_channel.format(channel=channel.name, realm=site.realm.name)),
        fill(_LIST, items=items) if topics or earlier else fill(_ABOUT, text=words.no_topics),
        fill(_MORE, label=words.pages, links=joined(pages)) if pages else Html(),
    ]
    feed = f"{channel.path}/feed.atom"
    return _page(
        site,
        title=f"#{channel.name} · {site.realm.name}",
        heading=f"#{channel.name}",
        description=text or words.about_channel.format(channel=channel.name, realm=site.realm.name),
        path=channel.path if before is None else f"{channel.path}?before={before}",
        body=joined(body),
        crumbs=[(site.realm.name, INDEX), (f"#{channel.name}", channel.path)],
        links=[fill(_FEED, address=feed, title=words.feed_of.format(place=f"#{channel.name}"))],
        enter=f"/#narrow/channel/{slug(channel.id, channel.name)}",
        feed=feed,
    )


def topic_page(site: Site, thread: Thread) -> Html:
    """The messages of a topic, one page of them."""
    words = _words(site)
    channel, topic = thread.channel, thread.topic
    pages, links = [], []
    for kind, address, text in (("prev", thread.previous, words.previous), ("next", thread.next, words.next)):
        if address is not None:
            links.append(fill(_LINK, kind=kind, address=address))
            pages.append(fill(_REL_ANCHOR, kind=kind, address=address, words=text))
    turn = fill(_MORE, label=words.pages, links=joined(pages)) if pages else Html()
    feed = f"{topic.path}/feed.atom"
    links.append(fill(_FEED, address=feed, title=words.feed_of.format(place=thread.title)))
    data = fill(_DATA, json=posting_of(site, thread))
    return _page(
        site,
        title=f"{thread.title} · #{channel.name} · {site.realm.name}",
        heading=thread.title,
        description=plain_text(page_content(thread.messages[0].rendered), DESCRIPTION),
        path=thread.path,
        body=joined([*(_message(words, one) for one in thread.messages), turn, data]),
        crumbs=[(site.realm.name, INDEX), (f"#{channel.name}", channel.path)],
        links=links,
        enter=f"/#narrow/channel/{slug(channel.id, channel.name)}/topic/{encode_operand(topic.name)}",
        feed=feed,
    )


def plain_page(language: str, title: str | None) -> Html:
    """What is said where there is no page; None: the same to everybody, whatever the reason."""
    words = words_of(language)
    title = title or words.missing
    return fill(_MISSING, language=words.language, direction=words.direction, title=title, style=style_path())


def title_of(site: Site, topic: str) -> str:
    """What a topic is called; the one without a name as the organization calls it."""
    return topic or site.realm.settings.empty_topic_display_name


def _page(
    site: Site,
    *,
    title: str,
    heading: str,
    description: str,
    path: str,
    body: Html,
    crumbs: Sequence[tuple[str, str]],
    links: Sequence[Html] = (),
    enter: str = "/",
    feed: str = "",
) -> Html:
    words = _words(site)
    foot = [fill(_ANCHOR, address=feed, words=words.feed)] if feed else []
    return fill(
        _PAGE,
        language=words.language,
        direction=words.direction,
        title=title,
        realm=site.realm.name,
        heading=heading,
        description=description[:DESCRIPTION],
        canonical=f"{site.url}{path}",
        style=style_path(),
        links=joined(links),
        skip=words.skip,
        path=words.path,
        crumbs=joined(fill(_CRUMB, address=address, name=name) for name, address in crumbs),
        enter=enter,
        take_part=words.take_part,
        body=body,
        foot=joined(foot),
    )


def _message(words: Words, message: PublicMessage) -> Html:
    moment = shown(message.sent)
    return fill(
        _MESSAGE,
        id=message.id,
        face=_face(message),
        author=message.author,
        address=message.path,
        label=words.link_to.format(author=message.author, moment=moment),
        iso=iso(message.sent),
        moment=moment,
        content=page_content(message.rendered),
    )


def _face(message: PublicMessage) -> Html:
    if message.picture is not None:
        return fill(_PICTURE, address=message.picture)
    colour = zlib.crc32(message.author.encode()) % COLOURS
    return fill(_LETTER, colour=colour, letter=message.author[:1].upper())


def _words(site: Site) -> Words:
    return words_of(site.realm.settings.default_language)
