"""What machines read before the pages: sitemaps, robots.txt, llms.txt (pure)."""

from collections.abc import Iterable, Sequence
from string import Template

from tertulia.messaging.public_pages.layout import INDEX
from tertulia.messaging.public_pages.model import PublicChannel, PublicTopic, Site
from tertulia.messaging.public_pages.moments import iso
from tertulia.messaging.public_pages.templates import Html, fill, joined

XML = "application/xml; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
SITEMAP = "/sitemap.xml"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_ALL = Template(f"{_HEAD}<urlset {_SPACE}>\n$entries\n</urlset>\n")
_PARTS = Template(f"{_HEAD}<sitemapindex {_SPACE}>\n$entries\n</sitemapindex>\n")
_PAGE = Template("<url><loc>$address</loc></url>")
_CHANGED = Template("<url><loc>$address</loc><lastmod>$changed</lastmod></url>")
_PART = Template("<sitemap><loc>$address</loc></sitemap>")

# Everything else is an application or an API: there is nothing in it for who has no account.
_ROBOTS = """User-agent: *
Allow: /public/
Allow: /user_uploads/
Allow: /user_avatars/
Allow: /external_content/
Disallow: /

Sitemap: {sitemap}
"""
_LLMS = (
    "Public channels of a team chat. The page of a channel lists its topics, the page of a topic has its messages in order. "
    "All topics:"
)
_MARKS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|"})


def sitemap(site: Site, channels: Sequence[PublicChannel], topics: Sequence[PublicTopic]) -> Html:
    """These pages; the list of channels is the first."""
    pages = [INDEX, *(channel.path for channel in channels)] if channels else []
    entries = [fill(_PAGE, address=f"{site.url}{path}") for path in pages]
    entries += [fill(_CHANGED, address=f"{site.url}{one.path}", changed=iso(one.active)) for one in topics]
    return fill(_ALL, entries=joined(entries))


def sitemap_index(site: Site, parts: Iterable[tuple[int, int]]) -> Html:
    """The parts, each named by its channel and the topic it begins with."""
    of_topics = [f"/public/sitemaps/channels/{channel_id}/{first}.xml" for channel_id, first in parts]
    paths = ["/public/sitemaps/channels.xml", *of_topics]
    return fill(_PARTS, entries=joined(fill(_PART, address=f"{site.url}{path}") for path in paths))


def robots(site: Site) -> str:
    """What crawlers may look at."""
    return _ROBOTS.format(sitemap=f"{site.url}{SITEMAP}")


def llms(site: Site, channels: Sequence[PublicChannel]) -> str:
    """What is here, for language models: names and addresses as Markdown."""
    lines = [f"# {_line(site.realm.name)}", ""]
    if site.realm.description:
        lines += [f"> {_line(site.realm.description)}", ""]
    lines += [f"{_LLMS} {site.url}{SITEMAP}", "", "## Channels", ""]
    for channel in channels:
        about = f": {_line(channel.description)}" if channel.description else ""
        lines.append(f"- [{_line(channel.name)}]({site.url}{channel.path}){about}")
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Somebody's words on one line, in which nothing is Markdown."""
    return " ".join(text.split()).translate(_MARKS)
