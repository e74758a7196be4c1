"""Pure rules of messages."""

import pytest

from tertulia.kernel.errors import Refusal
from tertulia.messaging.sending.rules import MAX_RECIPIENTS, ToPeople, people_of


def test_a_direct_message_has_a_bounded_number_of_recipients() -> None:
    most = list(range(1, MAX_RECIPIENTS + 1))
    assert people_of(most) == ToPeople(ids=tuple(most))
    with pytest.raises(Refusal):
        people_of([*most, MAX_RECIPIENTS + 1])
