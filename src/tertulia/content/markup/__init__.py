"""Message text to HTML. Pure: no I/O, no clock, no database; whoever calls loads what the names in a text stand for.

    names = wanted(content)                  # what could be referred to: load that, and nothing else
    rendered = render(content, Context(...)) # HTML and by-products: mentions, links, attachments

Invariants: rendering never fails because of what somebody wrote (TooLarge apart: HTML of more than half a megabyte);
no tag, attribute or address leaves that is not on the list of sanitizer.py; time grows linearly with the text;
names from the context are escaped and never read as markup; a construct that does not resolve stays literal text.
docs/explanation/markup.md tells how it works.
"""

from tertulia.content.markup.alert_words import alert_key, alert_keys, find_alert_words
from tertulia.content.markup.model import (
    Channel,
    Context,
    CustomEmoji,
    Linkifier,
    MentionableGroup,
    MentionablePerson,
    Rendered,
    TooLarge,
    TopicLink,
    Upload,
    WantedNames,
    Widget,
)
from tertulia.content.markup.remote import Fetched, RemotePicture
from tertulia.content.markup.renderer import render, render_description
from tertulia.content.markup.topics import topic_links
from tertulia.content.markup.wanted import wanted
from tertulia.content.markup.widgets import find_widget

__all__ = [
    "Channel",
    "Context",
    "CustomEmoji",
    "Fetched",
    "Linkifier",
    "MentionableGroup",
    "MentionablePerson",
    "RemotePicture",
    "Rendered",
    "TooLarge",
    "TopicLink",
    "Upload",
    "WantedNames",
    "Widget",
    "alert_key",
    "alert_keys",
    "find_alert_words",
    "find_widget",
    "render",
    "render_description",
    "topic_links",
    "wanted",
]
