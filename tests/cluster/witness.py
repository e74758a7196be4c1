"""What one client knows, for the checks of the cluster: the model of the histories, and the texts, places and reactions of the
messages that it heard."""

from dataclasses import dataclass, field

from tests.system.model_client import Json, Mismatch, ModelState


@dataclass
class Seen:
    """A message as events told it."""

    content: str
    topic: str
    reactions: set[tuple[int, str]] = field(default_factory=set)


class Witness(ModelState):
    def __init__(self, registered: Json) -> None:
        super().__init__(registered)
        self.messages: dict[int, Seen] = {}

    def _message(self, event: Json) -> None:
        message = event["message"]
        if message["id"] in self.messages:
            raise Mismatch(f"message {message['id']} came twice")
        self.messages[message["id"]] = Seen(message["content"], message["subject"])
        super()._message(event)

    def _update_message(self, event: Json) -> None:
        super()._update_message(event)
        if "content" in event and event["message_id"] in self.messages:
            self.messages[event["message_id"]].content = event["content"]
        for number in event["message_ids"]:
            if "subject" in event and number in self.messages:
                self.messages[number].topic = event["subject"]

    def _delete_message(self, event: Json) -> None:
        super()._delete_message(event)
        for number in event.get("message_ids") or [event["message_id"]]:
            self.messages.pop(number, None)

    def _reaction(self, event: Json) -> None:
        seen = self.messages.get(event["message_id"])
        if seen is None:
            return  # from before the registration
        key = (event["user_id"], event["emoji_name"])
        if (key in seen.reactions) == (event["op"] == "add"):
            raise Mismatch(f"a reaction that changes nothing: {event}")
        seen.reactions ^= {key}

    def _scheduled_messages(self, event: Json) -> None:
        """What is to be sent is looked at in the database (workshop.py)."""

    def _attachment(self, event: Json) -> None:
        """Files are looked at by whoever uploads them (surroundings.py)."""

    def _invites_changed(self, event: Json) -> None:
        """Whoever invites looks at their mails (invitations.py)."""
