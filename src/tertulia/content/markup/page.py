"""One rendering: what the names stand for, and what has been found so far. Lives for one call, holds nothing global."""

from functools import cached_property

from tertulia.content.markup.linkifiers import Search, matcher_of
from tertulia.content.markup.model import Channel, Context, CustomEmoji, MentionableGroup, MentionablePerson
from tertulia.content.markup.remote import RemotePicture


class Page:
    """The context with its names made searchable, and the by-products of rendering."""

    def __init__(self, context: Context, *, allows_references: bool = True, allows_previews: bool = True) -> None:
        self.context = context
        # Descriptions name nobody: in them a mention or a link to a channel stays text.
        self.allows_references = allows_references
        self.allows_previews = allows_previews and context.previews_images
        self.quote_depth = 0
        self.spoiler_depth = 0
        self.user_ids: set[int] = set()
        self.group_ids: set[int] = set()
        self.mentions_channel = False
        self.mentions_topic = False
        self.links: list[str] = []
        self.attachments: dict[str, None] = {}
        self.previewed: set[str] = set()
        self.remote: dict[str, RemotePicture] = {}
        self.pages: dict[str, None] = {}

    @cached_property
    def people_by_name(self) -> dict[str, MentionablePerson]:
        """Of people with one name an active one is meant, and of these the one who came first."""
        chosen: dict[str, MentionablePerson] = {}
        for person in sorted(self.context.people, key=lambda person: (person.is_active, -person.id)):
            chosen[person.name.lower()] = person
        return chosen

    @cached_property
    def people_by_id(self) -> dict[int, MentionablePerson]:
        return {person.id: person for person in self.context.people}

    @cached_property
    def groups(self) -> dict[str, MentionableGroup]:
        return {group.name: group for group in self.context.groups}

    @cached_property
    def channels(self) -> dict[str, Channel]:
        return {channel.name: channel for channel in self.context.channels}

    @cached_property
    def custom_emoji(self) -> dict[str, CustomEmoji]:
        return {emoji.name: emoji for emoji in self.context.custom_emoji}

    @cached_property
    def linkifiers(self) -> Search | None:
        return Search(matcher_of(self.context.linkifiers)) if self.context.linkifiers else None
