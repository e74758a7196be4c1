"""Links in the name of a topic. The name stays plain text; clients draw the links beside it."""

from collections.abc import Iterator
from functools import lru_cache

from tertulia.content.markup.addresses import FoundAddress, find_at_colon, find_in_run, run_around
from tertulia.content.markup.linkifiers import FREE_SECONDS_OF_NAME, LinkifierMatch, matcher_of
from tertulia.content.markup.model import Linkifier, TopicLink


@lru_cache(maxsize=4096)
def topic_links(topic: str, linkifiers: tuple[Linkifier, ...] = ()) -> tuple[TopicLink, ...]:
    """What linkifiers and bare addresses make of a topic's name, by position; of two that overlap the linkifier's stays."""
    found: list[LinkifierMatch] = matcher_of(linkifiers).find(topic, FREE_SECONDS_OF_NAME) if linkifiers else []
    for address in _addresses(topic):
        if all(address.end <= other.start or other.end <= address.start for other in found):
            url = address.url
            if "://" not in topic[address.start : address.end] and not url.startswith("mailto:"):
                url = "https://" + url.removeprefix("http://")
            found.append(LinkifierMatch(address.start, address.end, url))
    return tuple(TopicLink(text=topic[match.start : match.end], url=match.url) for match in sorted(found))


def _addresses(topic: str) -> Iterator[FoundAddress]:
    position = 0
    place = 0
    while place < len(topic):
        address = None
        if topic[place] == ":":
            address = find_at_colon(topic, place, position)
        elif topic[place] in ".@":
            address = find_in_run(topic, *run_around(topic, place, position))
        if address is not None:
            yield address
            position = place = address.end
        else:
            place += 1
