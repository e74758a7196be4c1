"""How typing looks to those who are told of it."""

from typing import Any

from tertulia.conversations.empty_topic import EmptyTopicPresenter


class TypingPresenter(EmptyTopicPresenter):
    """Shows `typing` events."""

    def name_topics(self, event: dict[str, Any], shown: str) -> None:
        """What is written about."""
        event["topic"] = shown


class EditingPresenter(EmptyTopicPresenter):
    """Shows `typing_edit_message` events."""

    def name_topics(self, event: dict[str, Any], shown: str) -> None:
        """The topic of the message that is being changed."""
        event["recipient"]["topic"] = shown
