"""The words of public pages, in the languages that the web client has. Others are told in English."""

import msgspec

from tertulia.kernel.languages import in_language


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is said in one language."""

    language: str
    public_channels: str
    about_index: str
    about_channel: str
    no_channels: str
    no_topics: str
    skip: str
    path: str
    pages: str
    older_topics: str
    newest_topics: str
    previous: str
    next: str
    take_part: str
    feed: str
    link_to: str
    feed_of: str


ENGLISH = Words(
    language="en",
    public_channels="Public channels",
    about_index="What {realm} talks about in public. You can read it without an account.",
    about_channel="Topics in the public channel {channel} of {realm}.",
    no_channels="No channel is public right now.",
    no_topics="Nobody has written here yet.",
    skip="Skip to the content",
    path="Where you are",
    pages="Pages",
    older_topics="Older topics",
    newest_topics="Newest topics",
    previous="Earlier messages",
    next="Later messages",
    take_part="Sign in to take part",
    feed="Atom feed",
    link_to="Link to the message of {author}, {moment}",
    feed_of="New messages in {place}",
)
SPANISH = Words(
    language="es",
    public_channels="Canales públicos",
    about_index="De qué se habla en público en {realm}. Puedes leerlo sin tener una cuenta.",
    about_channel="Temas del canal público {channel} de {realm}.",
    no_channels="Ahora mismo no hay ningún canal público.",
    no_topics="Aquí todavía no ha escrito nadie.",
    skip="Ir al contenido",
    path="Dónde estás",
    pages="Páginas",
    older_topics="Temas anteriores",
    newest_topics="Temas más recientes",
    previous="Mensajes anteriores",
    next="Mensajes siguientes",
    take_part="Entra para participar",
    feed="Canal Atom",
    link_to="Enlace al mensaje de {author}, {moment}",
    feed_of="Mensajes nuevos en {place}",
)
_ALL = {"en": ENGLISH, "es": SPANISH}


def words_of(language: str) -> Words:
    """Those of a language, or of the language that it is a kind of."""
    return in_language(language, _ALL)
