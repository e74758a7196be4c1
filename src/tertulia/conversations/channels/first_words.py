"""What stands in the first channel of a new organization: messages that teach by being tried. They are the notification bot's."""

from tertulia.content.markup.writing import Bold, worded
from tertulia.conversations.channels.words import words_of
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.queries import get_realm


async def say_first_words(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Have them said once the organization is there: by whoever runs the server, since a command has nobody who sends."""
    words = words_of((await get_realm(tx, realm_id)).settings.default_language)
    said = [worded(text, at=Bold("@")) for text in words.first_words]
    await tell(tx, realm_id, [Notice(text, channel_id=channel_id, topic=words.first_topic) for text in said])
