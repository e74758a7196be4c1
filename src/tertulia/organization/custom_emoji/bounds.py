"""How many emoji an organization may add, and of these one person."""

from tertulia.kernel.bounds import Bound

CUSTOM_EMOJI = Bound(
    name="custom_emoji",
    what="custom emoji in use",
    of="organization",
    limit=5000,
    tables=("custom_emoji",),
    refusal="The organization has {limit} custom emoji already.",
    counted="custom_emoji where realm_id = $1 and not is_deactivated",
)
OWN_CUSTOM_EMOJI = Bound(
    name="own_custom_emoji",
    what="custom emoji made by one person or their bots, those out of use among them; administrators have no such bound",
    of="person",
    limit=500,
    tables=("custom_emoji",),
    refusal="You have made {limit} custom emoji, and can't make more: ask an administrator.",
    counted="custom_emoji where share_of = $1",
)
"""Those out of use count, or making and taking out of use in turns would have no end."""

ALL = (
    CUSTOM_EMOJI,
    OWN_CUSTOM_EMOJI,
)
