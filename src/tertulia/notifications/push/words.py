"""The words of pushes, in the languages that the web client has. Others are told in English."""

import msgspec

from tertulia.kernel.languages import in_language


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is said in one language."""

    language: str
    reply: str
    mark_read: str
    failed: str
    """Of a reply that could not be sent: the text is shown below it."""
    test_title: str
    test_body: str


ENGLISH = Words(
    language="en",
    reply="Reply",
    mark_read="Mark as read",
    failed="Your reply was not sent",
    test_title="It works",
    test_body="Messages that concern you will be shown here while you are away.",
)
SPANISH = Words(
    language="es",
    reply="Responder",
    mark_read="Marcar como leído",
    failed="Tu respuesta no se envió",
    test_title="Funciona",
    test_body="Aquí se mostrarán los mensajes que te conciernen cuando no estés.",
)
_ALL = {words.language: words for words in (ENGLISH, SPANISH)}


def words_of(language: str) -> Words:
    """Those of a language, or of the language that it is a kind of."""
    return in_language(language, _ALL)
