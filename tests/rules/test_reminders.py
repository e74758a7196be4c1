"""What a reminder says."""

from hypothesis import given
from hypothesis import strategies as st

from tertulia.realms.limits import MAX_MESSAGE_LENGTH
from tertulia.reminders.model import said


@given(st.text(alphabet="a`\n>", max_size=300), st.text(alphabet="b\n`>", max_size=50), st.integers(1, 200))
def test_it_is_always_a_message_that_can_be_sent(content: str, note: str, times: int) -> None:
    text = said((content * times)[:MAX_MESSAGE_LENGTH], note[:1000])
    assert 0 < len(text) <= MAX_MESSAGE_LENGTH


def test_each_line_of_a_note_is_quoted() -> None:
    assert "> one\n> ```\n> two" in said("text", "one\n```\ntwo")
