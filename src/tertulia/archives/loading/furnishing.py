"""What an organization is before anything is said in it: people, groups, channels, and what they are called. One transaction."""

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.loading.accounts import end_who_left, put_again
from tertulia.archives.loading.beginning import Begun
from tertulia.archives.loading.rules import as_field, check_groups, user_settings
from tertulia.archives.loading.shifts import Spans
from tertulia.archives.loading.texts import Rewriter
from tertulia.archives.reading.archive import Archive
from tertulia.content.markup import alert_key, render_description
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import new_api_key
from tertulia.kernel.text import name_key_of
from tertulia.organization.groups.settings import CHANNEL_SETTINGS, CREATOR, GROUP_SETTINGS
from tertulia.organization.groups.statements import insert_some_system_groups, let_nobody_change
from tertulia.organization.groups.system import FACTS, SystemGroup
from tertulia.organization.realms.limits import MAX_CHANNEL_DESCRIPTION_LENGTH
from tertulia.organization.realms.queries import insert_notification_bot
from tertulia.people.bots.model import Service
from tertulia.people.bots.queries import put_service
from tertulia.people.profiles.model import FieldType
from tertulia.people.profiles.rules import user_ids_of, value_of
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.model import ProfileEntry
from tertulia.people.users.passwords import MUST_RESET

S = TypeVar("S", bound=msgspec.Struct)
Row = tuple[Any, ...]


async def copy(tx: Transaction, table: str, columns: str, rows: Sequence[Row]) -> None:
    """Rows by COPY."""
    if rows:
        await tx.connection.copy_records_to_table(table, records=rows, columns=columns.split())


class Furnishing:
    """Writes it."""

    def __init__(self, tx: Transaction, archive: Archive, begun: Begun, rewriter: Rewriter, spans: Spans) -> None:
        self._tx = tx
        self._archive = archive
        self._realm_id = begun.realm_id
        self._shifts = begun.shifts
        self._renews = begun.renews
        self._rewriter = rewriter
        self._spans = spans
        self.lost: dict[str, int] = {}
        self._where = ""

    async def write(self, avatars: dict[int, str], emoji: dict[int, tuple[str, bool]]) -> None:
        """All of it. `avatars`: names of those in the store, by the archive's id; `emoji`: file and whether it moves."""
        try:
            people = list(self._archive.of(kinds.Person))
            await self._people(people, avatars)
            systems = await self._groups(list(self._archive.of(kinds.Group)))
            await self._profiles(people)
            await self._vocabulary(emoji)
            await self._channels(systems)
            await self._belongings(people)
            await self._bots(people)
        except Refusal as refusal:
            raise ArchiveFailed(f"{self._where}: {refusal}") from refusal

    # People

    async def _people(self, people: Sequence[kinds.Person], avatars: dict[int, str]) -> None:
        columns = """id realm_id email email_key full_name role bot_type bot_owner_id bot_role system_bot is_active
            is_imported_stub date_joined timezone avatar password_hash settings"""
        rows = []
        for one in people:
            self._where = f"Person {one.id}"
            rows.append((one.bot is not None, self._person(one, avatars.get(one.id))))
        put = put_again if self._renews else partial(copy, table="account")
        for is_bot in (False, True):  # bots come after their owners, whose role counts for them
            await put(self._tx, columns=columns, rows=[row for bot, row in rows if bot == is_bot])
        if self._renews:
            await end_who_left(self._tx, self._realm_id, [one.id + self._shifts.person for one in people])
        elif not any(one.bot is not None and one.bot.system for one in people):
            await insert_notification_bot(self._tx, self._realm_id)

    def _person(self, one: kinds.Person, avatar: str | None) -> Row:
        bot = one.bot
        email = one.email or f"user{one.id + self._shifts.person}@import.invalid"
        settings = {} if one.private is None else user_settings(one.private.settings, self._where)
        about_bot = (None, None, None, None)
        if bot is not None:
            about_bot = (bot.type, self._person_id(bot.owner_id), int(bot.role), bot.system)  # type: ignore[assignment]
        return (
            *(one.id + self._shifts.person, self._realm_id, email, email_key_of(email), one.full_name, int(one.role)),
            *about_bot,
            *(one.is_active, one.is_imported_stub, one.joined, one.timezone, avatar),
            # People choose a password by a mail; bots have none.
            None if bot is not None else MUST_RESET,
            msgspec.json.encode(settings).decode(),
        )

    async def _profiles(self, people: Sequence[kinds.Person]) -> None:
        fields = {one.id: one for one in self._archive.of(kinds.ProfileField)}
        columns = """id realm_id type name hint field_data position display_in_profile_summary required editable_by_user
            use_for_user_matching"""
        rows = [
            (
                *(
                    one.id + self._shifts.field,
                    self._realm_id,
                    one.type,
                    one.name,
                    one.hint,
                    one.field_data,
                    one.position,
                ),
                *(one.display_in_profile_summary, one.required, one.editable_by_user, one.use_for_user_matching),
            )
            for one in fields.values()
        ]
        await copy(self._tx, "profile_field", columns, rows)
        values = [
            (self._realm_id, person.id + self._shifts.person, value.field_id + self._shifts.field, *said)
            for person in people
            for value in person.profile
            if (said := self._said(fields[value.field_id], value)) is not None
        ]
        await copy(self._tx, "profile_value", "realm_id user_id field_id value rendered", values)

    def _said(self, line: kinds.ProfileField, value: kinds.ProfileValue) -> tuple[str, str | None] | None:
        """As it is stored; None if it does not fit its field: a choice that there was once, say."""
        field, entry = as_field(line), ProfileEntry(line.id, value.value)
        try:
            if field.type == FieldType.USER:
                people = [id for id in user_ids_of(field, entry) if self._spans.has("person", id)]
                entry = ProfileEntry(line.id, [id + self._shifts.person for id in people])
            found = value_of(field, entry)
        except Refusal:
            found = None
        if found is None:
            what = "values of profiles that do not fit their field"
            self.lost[what] = self.lost.get(what, 0) + 1
            return None
        return found.value, found.rendered

    async def _belongings(self, people: Sequence[kinds.Person]) -> None:
        """What belongs to somebody."""
        muted, words, statuses = [], [], []
        for one in people:
            id = one.id + self._shifts.person
            private = one.private or kinds.Private()
            muted += [(id, other.user_id + self._shifts.person, other.at) for other in private.muted]
            by_key = {word.lower(): word for word in private.alert_words}
            words += [(id, word, key, self._realm_id, alert_key(key)) for key, word in by_key.items()]
            if (status := one.status) is not None:
                code = self._rewriter.emoji_code(status.reaction_type, status.emoji_code)
                statuses.append((id, status.text, status.emoji_name, code, status.reaction_type))
        await copy(self._tx, "muted_user", "user_id muted_id muted_at", muted)
        await copy(self._tx, "alert_word", "user_id word word_key realm_id first_word", words)
        await copy(self._tx, "user_status", "user_id status_text emoji_name emoji_code reaction_type", statuses)

    async def _bots(self, people: Sequence[kinds.Person]) -> None:
        defaults = []
        for one in people:
            self._where = f"Person {one.id}"
            if (bot := one.bot) is None:
                continue
            id = one.id + self._shifts.person
            channels = tuple(self._channel_id(channel) for channel in (bot.sending_channel_id, bot.register_channel_id))
            if any(channels) or bot.all_public_channels:
                defaults.append((id, *channels, bot.all_public_channels))
            if bot.url is not None:
                service = Service(bot.url, bot.interface or 1, new_api_key())
                await put_service(self._tx, id, service)
        columns = "user_id sending_channel_id register_channel_id all_public_channels"
        await copy(self._tx, "bot_default", columns, defaults)

    # Groups

    async def _groups(self, groups: Sequence[kinds.Group]) -> dict[str, int]:
        """Returns the ids of the system groups."""
        check_groups(groups)
        systems = {one.name: one.id + self._shifts.group for one in groups if one.name in FACTS and one.name}
        missing = [group for group in FACTS if group not in systems]  # every organization has them here
        systems |= await insert_some_system_groups(self._tx, self._realm_id, missing)
        nobody = systems[SystemGroup.NOBODY]
        rows = [self._group(one, nobody) for one in groups]
        columns = f"""id realm_id name description is_system lowest_role is_for_full_members creator_id date_created
            is_deactivated {" ".join(GROUP_SETTINGS)}"""
        await copy(self._tx, "user_group", columns, rows)
        await let_nobody_change(self._tx, self._realm_id, nobody)
        named = [one for one in groups if one.name not in FACTS]
        for table, column, family in (("group_member", "members", "person"), ("group_subgroup", "subgroups", "group")):
            shift = getattr(self._shifts, family)
            held = [
                (self._realm_id, one.id + self._shifts.group, id + shift, one.name is None)
                for one in named
                for id in sorted(set(getattr(one, column)))
            ]
            who = "user_id" if family == "person" else "subgroup_id"
            await copy(self._tx, table, f"realm_id group_id {who} is_anonymous", held)
        organization = next(self._archive.of(kinds.Organization))
        permissions = [(self._realm_id, name, id + self._shifts.group) for name, id in organization.permissions.items()]
        await copy(self._tx, "realm_permission", "realm_id setting group_id", permissions)
        return systems

    def _group(self, one: kinds.Group, nobody: int) -> Row:
        facts = FACTS[SystemGroup(one.name)] if one.name in FACTS and one.name else None
        system = (True, facts.lowest_role, facts.is_for_full_members) if facts else (False, None, False)
        missing = None if one.name is None else nobody
        settings = [
            one.permissions[name] + self._shifts.group if name in one.permissions else missing
            for name in GROUP_SETTINGS
        ]
        return (
            *(one.id + self._shifts.group, self._realm_id, one.name, one.description, *system),
            *(self._person_id(one.creator_id), one.created, one.is_deactivated, *settings),
        )

    # What the organization has

    async def _vocabulary(self, pictures: dict[int, tuple[str, bool]]) -> None:
        emoji = [
            (
                *(one.id + self._shifts.emoji, self._realm_id, one.name, self._person_id(one.author_id)),
                *(one.is_deactivated, one.created, *pictures[one.id]),
            )
            for one in self._archive.of(kinds.Emoji)
        ]
        columns = "id realm_id name author_id is_deactivated date_created file_name moves"
        await copy(self._tx, "custom_emoji", columns, emoji)
        linkifiers = [self._linkifier(one) for one in self._archive.of(kinds.Linkifier)]
        columns = "id realm_id pattern url_template example_input reverse_template alternative_url_templates position"
        await copy(self._tx, "linkifier", columns, linkifiers)
        playgrounds = []
        for play in self._archive.of(kinds.Playground):
            about = (play.name, play.pygments_language, play.url_template)
            playgrounds.append((play.id + self._shifts.playground, self._realm_id, *about))
        await copy(self._tx, "playground", "id realm_id name pygments_language url_template", playgrounds)

    def _linkifier(self, one: kinds.Linkifier) -> Row:
        templates = (one.example_input, one.reverse_template, one.alternative_url_templates)
        return one.id + self._shifts.linkifier, self._realm_id, one.pattern, one.url_template, *templates, one.position

    async def _channels(self, systems: dict[str, int]) -> None:
        folders = [
            (
                *(one.id + self._shifts.folder, self._realm_id, one.name, name_key_of(one.name)),
                *self._described(one.description),
                *(one.position, self._person_id(one.creator_id), one.created, one.is_archived),
            )
            for one in self._archive.of(kinds.Folder)
        ]
        columns = (
            "id realm_id name name_key description rendered_description position creator_id date_created is_archived"
        )
        await copy(self._tx, "channel_folder", columns, folders)
        channels = list(self._archive.of(kinds.Channel))
        conversations = [(one.id + self._shifts.conversation, self._realm_id, one.last_number) for one in channels]
        await copy(self._tx, "conversation", "id realm_id last_seq", conversations)
        columns = f"""id realm_id name name_key description rendered_description invite_only is_web_public
            history_public_to_subscribers is_archived creator_id date_created topics_policy folder_id
            {" ".join(CHANNEL_SETTINGS)}"""
        await copy(self._tx, "channel", columns, [self._channel(one, systems) for one in channels])
        defaults = [(one.id + self._shifts.conversation, self._realm_id) for one in channels if one.is_default]
        await copy(self._tx, "default_channel", "channel_id realm_id", defaults)

    def _channel(self, one: kinds.Channel, systems: dict[str, int]) -> Row:
        """Without its retention: nothing may be deleted while the rest still comes."""
        settings = [
            one.permissions[name] + self._shifts.group
            if name in one.permissions
            else systems[SystemGroup.NOBODY if rule.default == CREATOR else rule.default]
            for name, rule in CHANNEL_SETTINGS.items()
        ]
        return (
            *(one.id + self._shifts.conversation, self._realm_id, one.name, name_key_of(one.name)),
            *self._described(one.description),
            *(one.is_private, one.is_web_public, one.history_public_to_subscribers, one.is_archived),
            *(self._person_id(one.creator_id), one.created, one.topics_policy),
            None if one.folder_id is None else one.folder_id + self._shifts.folder,
            *settings,
        )

    def _described(self, text: str) -> tuple[str, str]:
        """Of a channel or a folder. Ids and addresses in it may have become longer: it is cut where they end then."""
        text = self._rewriter.text(text)[:MAX_CHANNEL_DESCRIPTION_LENGTH]
        return text, render_description(text)

    def _person_id(self, id: int | None) -> int | None:
        return None if id is None else id + self._shifts.person

    def _channel_id(self, id: int | None) -> int | None:
        """None as well for one outside the archive, which could come to mean another organization's."""
        known = id is not None and self._spans.has("conversation", id)
        return id + self._shifts.conversation if id is not None and known else None
