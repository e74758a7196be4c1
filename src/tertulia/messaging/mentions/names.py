"""Finding what names stand for: messages that are sent at the same moment share one statement."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from tertulia.content.markup import MentionableGroup, MentionablePerson, WantedNames, find_alert_words
from tertulia.kernel.auth import BotType
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database
from tertulia.messaging.mentions import queries
from tertulia.messaging.mentions.queries import NameRequest
from tertulia.organization.groups.system import SystemGroup
from tertulia.people.alert_words.queries import words_within

_SYSTEM_NAMES: dict[str, str] = {
    SystemGroup.NOBODY: "Nobody",
    SystemGroup.OWNERS: "Owners",
    SystemGroup.ADMINISTRATORS: "Administrators",
    SystemGroup.MODERATORS: "Moderators",
    SystemGroup.FULL_MEMBERS: "Full members",
    SystemGroup.MEMBERS: "Members",
    SystemGroup.EVERYONE: "Everyone",
    SystemGroup.INTERNET: "Everyone on the Internet",
}


class ResolvedNames(msgspec.Struct, frozen=True):
    """What the names in a message stand for."""

    people: tuple[MentionablePerson, ...] = ()
    groups: tuple[MentionableGroup, ...] = ()
    forbidden: frozenset[int] = frozenset()
    """Groups that the sender may not mention."""
    translates_emoticons: bool = False
    webhooks: frozenset[int] = frozenset()
    """Those of the people who are outgoing-webhook bots."""


NOTHING = ResolvedNames()


def display_name(group: str) -> str:
    """What a group is called in texts, if that is not its name."""
    return _SYSTEM_NAMES.get(group, "")


class Names:
    """Finds people, groups and alert words for concurrent requests."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._named: Coalescer[NameRequest, ResolvedNames] = Coalescer(self._read)
        self._words: Coalescer[tuple[int, str], list[str]] = Coalescer(self._read_words)

    async def find(self, realm_id: int, user_id: int, wanted: WantedNames, *, asks_sender: bool) -> ResolvedNames:
        """What the names stand for; no statement if there are none."""
        if not (wanted.person_names or wanted.person_ids or wanted.group_names or asks_sender):
            return NOTHING
        ids = frozenset(user_id for user_id in wanted.person_ids if user_id < 2**63)
        request = NameRequest(realm_id, user_id, wanted.person_names, ids, wanted.group_names, asks_sender)
        return await self._named.load(request) or NOTHING

    async def alert_words(self, realm_id: int, content: str) -> tuple[str, ...]:
        """The alert words of the realm that stand in a text."""
        candidates = await self._words.load((realm_id, content.lower()))
        return tuple(sorted(find_alert_words(content, candidates))) if candidates else ()

    async def _read(self, requests: Sequence[NameRequest]) -> dict[NameRequest, ResolvedNames]:
        async with self._database.reader() as reader:
            rows = await queries.named(reader, requests)
        people: defaultdict[int, list[MentionablePerson]] = defaultdict(list)
        groups: defaultdict[int, list[MentionableGroup]] = defaultdict(list)
        forbidden: defaultdict[int, set[int]] = defaultdict(set)
        translating = set()
        webhooks: defaultdict[int, set[int]] = defaultdict(set)
        for row in rows:
            ord = row["ord"]
            if row["kind"] == queries.PERSON:
                people[ord].append(MentionablePerson(row["id"], row["name"], row["is_active"]))
                if row["bot_type"] == BotType.OUTGOING_WEBHOOK:
                    webhooks[ord].add(row["id"])
            elif row["kind"] == queries.GROUP:
                shown = display_name(row["name"])
                groups[ord].append(MentionableGroup(row["id"], row["name"], shown, row["is_active"]))
                if not row["is_allowed"]:
                    forbidden[ord].add(row["id"])
            elif row["is_allowed"]:
                translating.add(ord)
        return {
            request: ResolvedNames(
                tuple(people[ord]),
                tuple(groups[ord]),
                frozenset(forbidden[ord]),
                ord in translating,
                frozenset(webhooks[ord]),
            )
            for ord, request in enumerate(requests, start=1)
        }

    async def _read_words(self, asked: Sequence[tuple[int, str]]) -> dict[tuple[int, str], list[str]]:
        async with self._database.reader() as reader:
            found = await words_within(reader, asked)
        return dict(zip(asked, found, strict=True))
