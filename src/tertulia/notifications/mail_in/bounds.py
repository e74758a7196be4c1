"""How many addresses there are."""

from tertulia.kernel.bounds import Bound, Otherwise

CHANNEL_ADDRESSES = Bound(
    name="channel_addresses",
    what="channels that mail becomes messages in, of one person or bot",
    of="person or bot",
    limit=100,
    tables=("channel_address",),
    refusal="You have mail addresses of {limit} channels already: remove some of them.",
    counted="channel_address where sender_id = $1",
)
ALL = (
    CHANNEL_ADDRESSES,
    Otherwise(tables=("reply_address",), because="one for each mail that can be answered; deleted after 30 days"),
)
