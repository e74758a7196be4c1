"""Mentions of people and groups, and links to channels, topics and messages.

Each reader answers with the HTML and where it ends, or None: then the text is no reference and stays what it was.
Names come from the context, are escaped, and are never read as markup.
"""

import re
from urllib.parse import quote

import msgspec

from tertulia.content.markup.escaping import escape, escape_attribute
from tertulia.content.markup.model import Channel, MentionablePerson
from tertulia.content.markup.page import Page
from tertulia.content.markup.wanted import TOPIC_WILDCARD, WILDCARDS
from tertulia.kernel.text import name_key_of

Atom = tuple[str, int]

_MENTION = re.compile(r"@(_?)(?:\*\*([^*\n]+)\*\*|\*([^*\n]+)\*(?!\*))")
_CHANNEL = re.compile(r"#\*\*([^*\n>]+)(?:>([^*\n]*?)(?:@(\d{1,18}))?)?\*\*")
_WITH_ID = re.compile(r"([^|]*)\|(\d{1,18})")
_BEFORE_MENTION = frozenset(" \t\n\r\f\v'\"({[/<")
_BEFORE_CHANNEL = frozenset(" \t\n\r\f\v'\"({/<")


def read_mention(page: Page, text: str, start: int) -> Atom | None:
    """A mention that begins here: of a person, a group, a channel's subscribers, a topic's participants."""
    if start and text[start - 1] not in _BEFORE_MENTION:
        return None
    match = _MENTION.match(text, start)
    if match is None:
        return None
    is_silent = bool(match[1]) or page.quote_depth > 0
    if match[2] is not None:
        html = _person(page, match[2], is_silent)
    else:
        html = _group(page, match[3], is_silent)
    return None if html is None else (html, match.end())


def _person(page: Page, name: str, is_silent: bool) -> str | None:
    if name in WILDCARDS or name == TOPIC_WILDCARD:
        return _wildcard(page, name, is_silent)
    person = _find_person(page, name)
    if person is None:
        return None
    is_silent = is_silent or not person.is_active
    if not is_silent:
        page.user_ids.add(person.id)
    return _span("user-mention", f' data-user-id="{person.id}"', person.name, is_silent)


def _find_person(page: Page, name: str) -> MentionablePerson | None:
    if with_id := _WITH_ID.fullmatch(name):
        person = page.people_by_id.get(int(with_id[2]))
        if person is None or with_id[1] in ("", person.name):
            return person
        return msgspec.structs.replace(person, name=with_id[1]) if page.context.is_old else None
    return page.people_by_name.get(name.lower())


def _wildcard(page: Page, name: str, is_silent: bool) -> str:
    if name == TOPIC_WILDCARD:
        page.mentions_topic |= not is_silent
        return _span("topic-mention", "", name, is_silent)
    page.mentions_channel |= not is_silent
    return _span("user-mention channel-wildcard-mention", ' data-user-id="*"', name, is_silent)


def _group(page: Page, name: str, is_silent: bool) -> str | None:
    group = page.groups.get(name)
    if group is None:
        return None
    is_silent = is_silent or not group.is_active
    if not is_silent:
        page.group_ids.add(group.id)
    return _span("user-group-mention", f' data-user-group-id="{group.id}"', group.display_name or group.name, is_silent)


def _span(kind: str, attribute: str, name: str, is_silent: bool) -> str:
    if is_silent:
        return f'<span class="{kind} silent"{attribute}>{escape(name)}</span>'
    return f'<span class="{kind}"{attribute}>@{escape(name)}</span>'


def read_channel_link(page: Page, text: str, start: int) -> Atom | None:
    """A link that begins here: to a channel, a topic in it, or a message."""
    if start and text[start - 1] not in _BEFORE_CHANNEL:
        return None
    match = _CHANNEL.match(text, start)
    if match is None:
        return None
    channel = page.channels.get(match[1])
    if channel is None:
        return None
    return _channel_html(page, channel, match[2], match[3]), match.end()


def _channel_html(page: Page, channel: Channel, topic: str | None, message_id: str | None) -> str:
    place = f"/#narrow/channel/{slug(channel.id, channel.name)}"
    name = f"#{escape(channel.name)}"
    if topic is None:
        page.links.append(place)
        return f'<a class="stream" data-stream-id="{channel.id}" href="{escape_attribute(place)}">{name}</a>'
    place += f"/topic/{encode_operand(topic)}"
    name += f" &gt; {escape(topic) or f'<em>{escape(page.context.empty_topic_name)}</em>'}"
    if message_id is not None:
        place += f"/near/{message_id}"
        page.links.append(place)
        return f'<a class="message-link" href="{escape_attribute(place)}">{name} @ 💬</a>'
    newest = page.context.topics.get((channel.id, name_key_of(topic)))
    if newest is not None:
        place += f"/with/{newest}"
    page.links.append(place)
    return f'<a class="stream-topic" data-stream-id="{channel.id}" href="{escape_attribute(place)}">{name}</a>'


def slug(id: int, name: str) -> str:
    """How a channel is written in an address: its id decides, its name is for people to read."""
    return f"{id}-{encode_operand(name.replace(' ', '-'))}"


def encode_operand(text: str) -> str:
    """Percent-encoding with dots for percent signs, so that programs leave the address alone."""
    return quote(text, safe="~()*!.'-_").replace(".", "%2E").replace("(", "%28").replace(")", "%29").replace("%", ".")
