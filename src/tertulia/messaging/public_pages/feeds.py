"""Atom feeds of channels and topics (RFC 4287; pure)."""

import re
from collections.abc import Sequence
from datetime import datetime
from string import Template

from tertulia.messaging.public_pages.content import feed_content
from tertulia.messaging.public_pages.model import PublicMessage, Site
from tertulia.messaging.public_pages.moments import iso
from tertulia.messaging.public_pages.templates import Html, fill, joined

_UNWRITTEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
ATOM = "application/atom+xml; charset=utf-8"
_FEED = Template("""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>$page</id>
<title>$title</title>
<updated>$updated</updated>
<link rel="self" type="application/atom+xml" href="$address"/>
<link rel="alternate" type="text/html" href="$page"/>
$entries
</feed>
""")
_ENTRY = Template("""<entry>
<id>$address</id>
<title>$title</title>
<published>$sent</published>
<updated>$sent</updated>
<author><name>$author</name></author>
<link rel="alternate" type="text/html" href="$address"/>
<content type="html">$content</content>
</entry>""")


def feed(site: Site, path: str, title: str, messages: Sequence[tuple[str, PublicMessage]], empty: datetime) -> Html:
    """The newest messages of the page at `path`, each with a title. `empty`: since when there is nothing, if there is nothing."""
    newest = max((message.sent for _, message in messages), default=empty)
    return fill(
        _FEED,
        page=f"{site.url}{path}",
        address=f"{site.url}{path}/feed.atom",
        title=_written(title),
        updated=iso(newest),
        entries=joined(_entry(site, title, message) for title, message in messages),
    )


def _entry(site: Site, title: str, message: PublicMessage) -> Html:
    return fill(
        _ENTRY,
        address=f"{site.url}{message.path}",
        title=_written(title),
        sent=iso(message.sent),
        author=_written(message.author),
        content=_written(str(feed_content(message.rendered, site.url))),
    )


def _written(text: str) -> str:
    """Without what XML cannot hold: control characters, and what is no character."""
    return _UNWRITTEN.sub("", text)
