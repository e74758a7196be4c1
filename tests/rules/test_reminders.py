"""What a reminder says."""

from hypothesis import given
from hypothesis import strategies as st

from tertulia.content.markup.writing import ChannelLink, write
from tertulia.messaging.reminders.model import Remembered, said
from tertulia.messaging.reminders.words import words_of
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH

ENGLISH = words_of("en")


@given(st.text(alphabet="a`~\n>", max_size=300), st.text(alphabet="b\n`>~", max_size=50), st.integers(1, 200))
def test_it_is_always_a_message_that_can_be_sent(content: str, note: str, times: int) -> None:
    place = ChannelLink(2**50, "#" * 60, "*" * 60, 2**50)
    text = write(said(ENGLISH, Remembered((content * times)[:MAX_MESSAGE_LENGTH], "", place), note[:1000]))
    assert 0 < len(text) <= MAX_MESSAGE_LENGTH


def test_fences_of_every_length_still_leave_room() -> None:
    content = "\n".join("~" * length for length in range(3, 140))
    text = write(said(ENGLISH, Remembered(content[:MAX_MESSAGE_LENGTH], "", None), content[:1000]))
    assert 0 < len(text) <= MAX_MESSAGE_LENGTH


def test_nothing_is_said_of_a_message_that_is_gone() -> None:
    assert "deleted" in write(said(ENGLISH, None, "my note"))
    assert "my note" in write(said(ENGLISH, None, "my note"))
