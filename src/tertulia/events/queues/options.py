"""What a client asked of its event queue. Kept in the queue's record, so that any process can serve it."""

import msgspec

from tertulia.events.log.record import Audience


class QueueOptions(msgspec.Struct, frozen=True):
    """The choices of POST /register that shape events."""

    event_types: frozenset[str] | None = None
    apply_markdown: bool = False
    """Whether texts come as HTML instead of as they were written."""
    all_public_channels: bool = False
    capabilities: dict[str, bool] = {}
    """What the client says it understands, by the protocol's names. Their features know what they mean."""
    client: str = ""
    narrow: tuple[tuple[str, str], ...] = ()
    """Pairs of operator and operand: events of a type with a filter are delivered only if they match all of them."""
    old_names: bool = True
    """Whether older names are sent (kernel/compat.py): the setting at registration."""

    def understands(self, capability: str) -> bool:
        """Whether the client has said so."""
        return self.capabilities.get(capability, False)

    def wants(self, type: str) -> bool:
        """Whether events of this type are delivered."""
        return self.event_types is None or type in self.event_types

    def suits(self, to: Audience) -> bool:
        """Whether an event for clients with or without a capability is for this one."""
        if to.instead and self.event_types is not None and to.instead in self.event_types:
            return False
        if to.old and not self.old_names:
            return False
        if to.needs and not self.understands(to.needs):
            return False
        return not (to.lacks and self.understands(to.lacks))
