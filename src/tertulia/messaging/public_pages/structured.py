"""What search engines and other machines are told of a topic: a DiscussionForumPosting in the words of schema.org (pure)."""

from typing import Any

import msgspec

from tertulia.messaging.public_pages.content import page_content, plain_text
from tertulia.messaging.public_pages.model import PublicMessage, Site, Thread
from tertulia.messaging.public_pages.moments import iso
from tertulia.messaging.public_pages.templates import Html

TEXT = 5_000
"""Characters of a message's text that are repeated here."""


def posting_of(site: Site, thread: Thread) -> Html:
    """The topic as JSON-LD, fit to stand inside an element of a page."""
    said = {
        "@context": "https://schema.org",
        "@type": "DiscussionForumPosting",
        "@id": f"{site.url}{thread.topic.path}",
        "headline": thread.title,
        "url": f"{site.url}{thread.topic.path}",
        "isPartOf": {
            "@type": "CollectionPage",
            "name": f"#{thread.channel.name}",
            "url": f"{site.url}{thread.channel.path}",
        },
        **_told(site, thread.opening),
        "comment": [
            {"@type": "Comment", "url": f"{site.url}{one.path}", **_told(site, one)}
            for one in thread.messages
            if one.id != thread.opening.id
        ],
    }
    # JSON inside HTML ends at the first "</script": no sign of markup is left in it.
    text = msgspec.json.encode(said).decode()
    return Html(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _told(site: Site, message: PublicMessage) -> dict[str, Any]:
    author = {"@type": "Person", "name": message.author}
    if message.picture is not None:
        author["image"] = f"{site.url}{message.picture}"
    return {
        "author": author,
        "datePublished": iso(message.sent),
        "text": plain_text(page_content(message.rendered), TEXT),
    }
