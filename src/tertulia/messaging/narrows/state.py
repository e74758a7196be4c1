"""The search's part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.narrows.language import language_now
from tertulia.messaging.narrows.queries import ignored_words

_TEXT = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
has had having do does did doing a an the and but if or because as until while of at by for with about against between
into through during before after above below to from up down in out on off over under again further then once here there
when where why how all any both each few more most other some such no nor not only own same so than too very s t can
will just don should now
"""
FREQUENT = tuple(_TEXT.split())
"""Words so frequent that a search may leave them out; the database's language decides which it does."""


_ignored: dict[str, list[str]] = {}
"""By language: PostgreSQL reads its lists of such words once, and so do we."""


@provider("stop_words")
async def stop_words(reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """Words that a search does not look for."""
    language = await language_now(reader)
    if language not in _ignored:
        _ignored[language] = await ignored_words(reader, FREQUENT)
    return {"stop_words": _ignored[language]}
