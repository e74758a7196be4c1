"""The words of mails about missed messages, in the languages that the web client has. Others are told in English."""

import msgspec

from tertulia.kernel.languages import in_language
from tertulia.notifications.concerns.model import Trigger
from tertulia.notifications.missed_mail.links import Kind


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is said in one language."""

    language: str
    sender: str
    new_messages: str
    """The subject and title of a mail that shows nothing."""
    resolved: str
    direct: str
    group: str
    and_others: str
    before: str
    more: str
    more_conversations: str
    open_message: str
    open_home: str
    hidden_by_organization: str
    hidden_by_you: str
    reasons: dict[Trigger, str]
    no_replies: str
    replies: str
    answer_above: str
    """In the line above which an answer is written."""
    settings: str
    unsubscribe: str
    stop_title: dict[Kind, str]
    stop_question: dict[Kind, str]
    stop_button: str
    stopped_title: str
    stopped: dict[Kind, str]


ENGLISH = Words(
    language="en",
    sender="{realm} notifications",
    new_messages="New messages",
    resolved="[resolved]",
    direct="Direct messages with {names}",
    group="Group messages with {names}",
    and_others="{names} and {number} others",
    before="Before that",
    more="And {number} more.",
    more_conversations="You missed messages in {number} more conversations.",
    open_message="Open the conversation",
    open_home="Open {realm}",
    hidden_by_organization="{realm} does not show messages in mails.",
    hidden_by_you="Your settings say not to show messages in mails.",
    reasons={
        "direct_message": "You get this mail because somebody wrote to you directly.",
        "mentioned": "You get this mail because you were mentioned, or a group that you are in.",
        "topic_wildcard_mentioned": "You get this mail because everybody in the topic was mentioned.",
        "stream_wildcard_mentioned": "You get this mail because everybody in the channel was mentioned.",
        "followed_topic": "You get this mail because you follow the topic.",
        "stream_email": "You get this mail because you asked for mails about the channel.",
    },
    no_replies="Nobody reads answers to this mail.",
    replies="Answer this mail, and your answer becomes a message there. Do not pass it on: whoever has it can answer as you.",
    answer_above="Write your answer above this line",
    settings="Change what you get mails about",
    unsubscribe="No more mails about messages",
    stop_title={Kind.MISSED: "No more mails about messages", Kind.DIGEST: "No more weekly mails"},
    stop_question={
        Kind.MISSED: "From now on {realm} sends you no mails about messages that you missed.",
        Kind.DIGEST: "From now on {realm} sends you no weekly mails.",
    },
    stop_button="Stop these mails",
    stopped_title="Done",
    stopped={
        Kind.MISSED: "You get no more mails about messages that you missed. In your settings you can turn them on again.",
        Kind.DIGEST: "You get no more weekly mails. In your settings you can turn them on again.",
    },
)
SPANISH = Words(
    language="es",
    sender="Avisos de {realm}",
    new_messages="Mensajes nuevos",
    resolved="[resuelto]",
    direct="Mensajes directos con {names}",
    group="Mensajes de grupo con {names}",
    and_others="{names} y {number} más",
    before="Antes de eso",
    more="Y {number} más.",
    more_conversations="También hay mensajes que no viste en otras {number} conversaciones.",
    open_message="Abrir la conversación",
    open_home="Abrir {realm}",
    hidden_by_organization="{realm} no muestra los mensajes en los correos.",
    hidden_by_you="Según tus ajustes, los correos no muestran los mensajes.",
    reasons={
        "direct_message": "Recibes este correo porque alguien te escribió directamente.",
        "mentioned": "Recibes este correo porque te mencionaron a ti o a un grupo al que perteneces.",
        "topic_wildcard_mentioned": "Recibes este correo porque mencionaron a todos los que participan en el tema.",
        "stream_wildcard_mentioned": "Recibes este correo porque mencionaron a todo el canal.",
        "followed_topic": "Recibes este correo porque sigues el tema.",
        "stream_email": "Recibes este correo porque pediste correos sobre el canal.",
    },
    no_replies="Nadie lee las respuestas a este correo.",
    replies="Responde a este correo y tu respuesta será un mensaje allí. No lo reenvíes: quien lo tenga puede responder por ti.",
    answer_above="Escribe tu respuesta encima de esta línea",
    settings="Cambiar sobre qué recibes correos",
    unsubscribe="No recibir más correos sobre mensajes",
    stop_title={Kind.MISSED: "No recibir más correos sobre mensajes", Kind.DIGEST: "No recibir más correos semanales"},
    stop_question={
        Kind.MISSED: "A partir de ahora {realm} no te enviará correos sobre los mensajes que no viste.",
        Kind.DIGEST: "A partir de ahora {realm} no te enviará correos semanales.",
    },
    stop_button="Dejar de recibirlos",
    stopped_title="Hecho",
    stopped={
        Kind.MISSED: "Ya no recibirás correos sobre los mensajes que no viste. Puedes volver a activarlos en tus ajustes.",
        Kind.DIGEST: "Ya no recibirás correos semanales. Puedes volver a activarlos en tus ajustes.",
    },
)
_ALL = {words.language: words for words in (ENGLISH, SPANISH)}


def words_of(language: str) -> Words:
    """Those of a language, or of the language that it is a kind of."""
    return in_language(language, _ALL)
