"""The words of digests, in the languages that the web client has. Others are told in English."""

import msgspec

from tertulia.kernel.languages import in_language


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is said in one language."""

    title: str
    numbers: str
    hidden: str
    why: str
    unsubscribe: str


ENGLISH = Words(
    title="What was said at {realm} this week",
    numbers="new messages: {messages}, people: {people}",
    hidden="Conversations with something new: {number}.",
    why="You get this mail once a week, because you were not there for some days.",
    unsubscribe="No more weekly mails",
)
SPANISH = Words(
    title="Lo que se dijo en {realm} esta semana",
    numbers="mensajes nuevos: {messages}, personas: {people}",
    hidden="Conversaciones con algo nuevo: {number}.",
    why="Recibes este correo una vez por semana, porque llevas algunos días sin venir.",
    unsubscribe="No recibir más correos semanales",
)
_ALL = {"en": ENGLISH, "es": SPANISH}


def words_of(language: str) -> Words:
    """Those of a language, or of the language that it is a kind of."""
    return in_language(language, _ALL)
