"""What may be said to a widget (pure)."""

from typing import Annotated, Literal

import msgspec

from tertulia.kernel.errors import Refusal
from tertulia.kernel.json_guard import JsonTrouble, check_json

MAX_INDEX = 1000
Index = Annotated[int, msgspec.Meta(ge=0, le=MAX_INDEX)]
Text = Annotated[str, msgspec.Meta(max_length=10_000)]


class Vote(msgspec.Struct, tag="vote"):
    """For an option of a poll, or no longer for it."""

    key: Annotated[str, msgspec.Meta(pattern=r"^(canned|[0-9]{1,19}),[0-9]{1,9}$")]
    vote: Literal[1, -1]


class NewOption(msgspec.Struct, tag="new_option"):
    """One more option of a poll."""

    idx: Index
    option: Text


class NewQuestion(msgspec.Struct, tag="question"):
    """Another question of a poll."""

    question: Text


class NewTask(msgspec.Struct, tag="new_task"):
    """One more task of a list."""

    key: Index
    task: Text
    desc: Text
    completed: bool


class Strike(msgspec.Struct, tag="strike"):
    """A task is done, or is not done after all. Clients name tasks the other way round than options: index, then owner."""

    key: Annotated[
        str,
        msgspec.Meta(pattern=r"^((canned|[0-9]{1,19}),[0-9]{1,9}|[0-9]{1,9},(canned|[0-9]{1,19}))$"),
    ]


class NewTitle(msgspec.Struct, tag="new_task_list_title"):
    """Another title of a list."""

    title: Text


class Opening(msgspec.Struct):
    """The first submessage: what the widget is."""

    widget_type: str


_POLL = msgspec.json.Decoder(Vote | NewOption | NewQuestion)
_TODO = msgspec.json.Decoder(NewTask | Strike | NewTitle)
_OPENING = msgspec.json.Decoder(Opening)


def check_said(opening: str, content: str, *, is_author: bool) -> None:
    """Refuse what the widget opened by `opening` cannot be told, or not by this user."""
    try:
        check_json(content)
        kind = _OPENING.decode(opening).widget_type
        if kind not in ("poll", "todo"):
            msgspec.json.decode(content)  # of other widgets only bots and their clients know what is said
            return
        said = _POLL.decode(content) if kind == "poll" else _TODO.decode(content)
    except msgspec.ValidationError as fault:
        raise Refusal(f"This widget can't be told that: {fault}") from None
    except JsonTrouble as trouble:
        raise Refusal(f"content {trouble}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Refusal("content is not valid JSON: a submessage is.") from None
    if isinstance(said, NewQuestion | NewTitle) and not is_author:
        raise Refusal("Only whoever opened it may change its question or title.")
