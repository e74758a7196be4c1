"""The words of mails about accounts, in the languages that the web client has. Others are told in English."""

import msgspec

from tertulia.kernel.languages import in_language


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is said in one language."""

    welcome: str
    welcome_text: tuple[str, ...]
    open_home: str
    why_welcome: str
    settings: str
    farewell: str
    farewell_text: str
    said: str
    why_farewell: str


ENGLISH = Words(
    welcome="Welcome to {realm}",
    welcome_text=(
        "You have an account at {realm} now. Your address there is {email}.",
        "Conversations are in channels, and each has a topic: so you read what concerns you, and answer when you have time.",
        "What you miss comes by mail, if you want. Your settings say about what, and how often.",
    ),
    open_home="Open {realm}",
    why_welcome="You get this mail once, because an account was made with your address.",
    settings="Change what you get mails about",
    farewell="Your account at {realm} was deactivated",
    farewell_text="An administrator of {realm} deactivated your account. You cannot log in there any more.",
    said="They say:",
    why_farewell="You get this mail because the account had your address.",
)
SPANISH = Words(
    welcome="Te damos la bienvenida a {realm}",
    welcome_text=(
        "Ya tienes una cuenta en {realm}. Tu dirección allí es {email}.",
        "Se conversa en canales, y cada conversación tiene un tema: así lees lo que te interesa y respondes cuando puedes.",
        "Lo que no veas te llega por correo, si quieres. En tus ajustes dices sobre qué y con qué frecuencia.",
    ),
    open_home="Abrir {realm}",
    why_welcome="Recibes este correo una sola vez, porque se creó una cuenta con tu dirección.",
    settings="Cambiar sobre qué recibes correos",
    farewell="Tu cuenta en {realm} fue desactivada",
    farewell_text="Alguien que administra {realm} desactivó tu cuenta. Ya no puedes entrar allí.",
    said="Nos dice:",
    why_farewell="Recibes este correo porque la cuenta tenía tu dirección.",
)
_ALL = {"en": ENGLISH, "es": SPANISH}


def words_of(language: str) -> Words:
    """Those of a language, or of the language that it is a kind of."""
    return in_language(language, _ALL)
