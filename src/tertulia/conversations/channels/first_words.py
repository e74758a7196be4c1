"""What stands in the first channel of a new organization: messages that teach by being tried. They are the notification bot's."""

from tertulia.content.markup.writing import Bold, Text
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell

TOPIC = "welcome"
_WORDS: tuple[Text, ...] = (
    (
        "Welcome! This is a topic in a channel: one matter, kept apart from the others.",
        " Say hello in the box below; what you write here stays in this topic.",
    ),
    (
        "Point at this message, or hold it on a phone, and choose a face: that is a reaction.",
        " Nobody has to read a message that only says yes.",
    ),
    (
        "To begin something new, open the channel by its name, give it a topic and write.",
        " A few words are enough, and anybody can change them later.",
    ),
    (
        "To call somebody, type ",
        Bold("@"),
        " and the first letters of a name. They are told, wherever they are.",
    ),
)


async def say_first_words(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Have them said once the organization is there: by whoever runs the server, since a command has nobody who sends."""
    await tell(tx, realm_id, [Notice(words, channel_id=channel_id, topic=TOPIC) for words in _WORDS])
