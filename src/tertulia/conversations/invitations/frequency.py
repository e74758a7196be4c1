"""How many invitations one address is sent, and one person sends: mails must not rain on anybody in an organization's name."""

from collections.abc import Awaitable, Callable

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import RateLimits, parse_rates
from tertulia.kernel.settings import Settings
from tertulia.people.users.addresses import email_key_of

PER_ADDRESS = parse_rates("3/3600,5/86400")
PER_INVITER = parse_rates("100/86400")
"""Administrators have only the limit of the organization."""

Spend = Callable[[str], Awaitable[str | None]]
"""Spends what a mail to an address costs; why it may not be sent now, if it may not."""


def budget_of(call: Call, caller: Caller, settings: Settings, limits: RateLimits) -> Spend:
    """What the caller may have sent."""

    async def spend(email: str) -> str | None:
        if not settings.rate_limits:
            return None
        try:
            await limits.spend(call, "invitation", f"{caller.realm_id}:{email_key_of(email)}", PER_ADDRESS)
        except Refusal:
            return "This address has been sent enough invitations for now."
        try:
            if caller.role > Role.ADMINISTRATOR:
                await limits.spend(call, "inviter", str(caller.user_id), PER_INVITER)
        except Refusal:
            return "You have sent enough invitations for today."
        return None

    return spend
