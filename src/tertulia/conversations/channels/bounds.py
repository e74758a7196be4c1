"""How many channels an organization may have, and of these one person."""

from tertulia.kernel.bounds import Bound, Otherwise
from tertulia.organization.groups.bounds import named_by_settings
from tertulia.organization.groups.settings import CHANNEL_SETTINGS

CHANNELS = Bound(
    name="channels",
    what="channels that are not archived",
    of="organization",
    limit=20000,
    tables=("channel",),
    refusal="The organization has {limit} channels already.",
    counted="channel where realm_id = $1 and not is_archived",
)
OWN_CHANNELS = Bound(
    name="own_channels",
    what="channels made by one person or their bots, archived ones among them; administrators have no such bound",
    of="person",
    limit=500,
    tables=("channel",),
    refusal="You have made {limit} channels, and can't make more: ask an administrator.",
    counted="channel where share_of = $1",
)
"""Those out of use count, or making and taking out of use in turns would have no end."""
OWN_CHANNEL_BYTES = Bound(
    name="own_channel_bytes",
    what="bytes of descriptions, with their HTML, of channels made by one person or their bots; as above",
    of="person",
    limit=2 * 1024 * 1024,
    tables=("channel",),
    refusal="The descriptions of your channels are too long together (limit: {limit} bytes): shorten some of them.",
    counted="channel where share_of = $1",
    weight="octet_length(description) + octet_length(rendered_description)",
)
"""Everybody gets them, with each registration."""
OWN_CHANNEL_HOLDERS = Bound(
    name="own_channel_holders",
    what="people and groups that settings of channels made by one person or their bots name one by one; as above",
    of="person",
    limit=50_000,
    tables=("group_member", "group_subgroup"),
    refusal="The settings of your channels name {limit} people together, and can't name more: name a group instead.",
    counted=named_by_settings("channel", CHANNEL_SETTINGS),
)
MEMBERSHIPS = Otherwise(
    tables=("subscription", "default_channel"),
    because="one for each person and channel; one for each channel",
)
CONVERSATIONS = Otherwise(
    tables=("conversation",),
    because="one for each channel, and for each set of people who write to each other, of which one person begins so many",
)
TRAFFIC = Otherwise(
    tables=("channel_day",),
    because="one for each channel and day, of a few weeks",
)

ALL = (
    CHANNELS,
    OWN_CHANNELS,
    OWN_CHANNEL_BYTES,
    OWN_CHANNEL_HOLDERS,
    MEMBERSHIPS,
    CONVERSATIONS,
    TRAFFIC,
)
