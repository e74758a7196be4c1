"""How a change of read state looks to the user's clients."""

from typing import Any

from tertulia.conversations.empty_topic import EmptyTopicPresenter


class FlagsPresenter(EmptyTopicPresenter):
    """Shows `update_message_flags` events."""

    def name_topics(self, event: dict[str, Any], shown: str) -> None:
        """Where unread messages belong."""
        for details in event["message_details"].values():
            if details.get("topic") == "":
                details["topic"] = shown
