"""What means something in every message of a realm: its linkifiers and custom emoji.

They are kept in memory by the realm's settings, which come with every caller and hold a number that grows with each change
of them (`vocabulary_changed`): what is kept was read after that number was, so it is never older than the caller's request.
"""

from collections import OrderedDict

import msgspec

from tertulia.content.markup import CustomEmoji, Linkifier
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.organization.custom_emoji.model import picture_url
from tertulia.organization.realms.settings import notes_of

MAX_REALMS = 1000


class Vocabulary(msgspec.Struct, frozen=True):
    """What a realm added to the language."""

    linkifiers: tuple[Linkifier, ...] = ()
    emoji: tuple[CustomEmoji, ...] = ()


NOTHING = Vocabulary()


class Vocabularies:
    """Those of the realms this process serves; what was not used for the longest time goes first."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: OrderedDict[int, tuple[int, Vocabulary]] = OrderedDict()

    async def of(self, caller: Caller) -> Vocabulary:
        """The caller's realm's."""
        number = notes_of(caller).vocabulary
        if not number:
            return NOTHING
        kept = self._kept.get(caller.realm_id)
        if kept is None or kept[0] < number:
            kept = number, await self._read(caller.realm_id)
            self._kept[caller.realm_id] = kept
            while len(self._kept) > MAX_REALMS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(caller.realm_id)
        return kept[1]

    async def _read(self, realm_id: int) -> Vocabulary:
        linkifiers = "select pattern, url_template from linkifier where realm_id = $1 order by position, id"
        emoji = "select name, file_name from custom_emoji where realm_id = $1 and not is_deactivated"
        async with self._database.reader() as reader:
            return Vocabulary(
                tuple(Linkifier(**row) for row in await reader.fetch(linkifiers, realm_id)),
                tuple(
                    CustomEmoji(row["name"], picture_url(realm_id, row["file_name"]))
                    for row in await reader.fetch(emoji, realm_id)
                ),
            )
