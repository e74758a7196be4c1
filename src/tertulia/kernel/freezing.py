"""A frozen organization is read only: it is being moved to another server, and what was written now would stay behind.

The one home of the rule. Who writes is refused with 503 and Retry-After:
- the endpoint layer refuses first, whatever is wrong with the request besides (`Endpoint.while_frozen` says which may go on);
- the transaction of a request asks once more right before its commit (`Transaction.flush`), and sending asks in its own
  statement. So a transaction that begins after the freeze was committed writes nothing, and the freeze waits for those that
  began before (`organization/realms/freezing.py`): together nothing slips past it, and no row is locked for that;
- work of the worker that changes what an organization has leaves frozen ones alone: its claims say so.

The note stands among the settings of the realm, which come with every caller.
"""

from tertulia.kernel.errors import Refusal, server_not_ready

NOTE = "_frozen"
RETRY_SECONDS = 5
# `offset 0`: look it up for the rows that are left. As a join it would change how all the rest is planned.
_FROZEN = "exists (select from realm as of_freeze where of_freeze.id = {0} and of_freeze.settings ? '{1}' offset 0)"

IS_ANY_FROZEN = "(select exists (select from realm where id = any($3::bigint[]) and settings ? '_frozen'))"
IS_FROZEN_AT = "select exists (select from realm where (id = $1 or subdomain = $2) and settings ? '_frozen')"


def is_frozen(realm_id: str) -> str:
    """Whether a realm is, in SQL."""
    return _FROZEN.format(realm_id, NOTE)


def frozen() -> Refusal:
    """The refusal of whatever would change a frozen organization."""
    msg = "This organization is being moved to another server. You can read it, and write again in a little while."
    return server_not_ready(msg, RETRY_SECONDS)
