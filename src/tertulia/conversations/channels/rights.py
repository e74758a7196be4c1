"""What an account may do with a channel, as SQL conditions on two rows of a statement.

There is one answer to each question, and it is SQL, so that the very same one holds for a single channel, in a list of
thousands, and inside the statement that writes. The conditions expect rows named `channel` and `account`, unless told
other names. They are ordered from cheap to expensive: most channels are public and most settings name system groups.

Being an administrator gives no access to what is said in a private channel, only to what is known about it.
"""

from collections.abc import Callable

from tertulia.kernel.auth import Role
from tertulia.organization.groups.queries import holds
from tertulia.organization.groups.settings import CHANNEL_SETTINGS, REALM_SETTINGS
from tertulia.organization.groups.webs.statements import holds_by_climbing

NOT_GUEST = f"account.role < {Role.GUEST}"
IS_ADMINISTRATOR = f"account.role <= {Role.ADMINISTRATOR}"


def granted(setting: str, account: str = "account", ask: Callable[[str, str], str] = holds) -> str:
    """Whether a setting of the channel gives the account a permission. Guests get only those that guests may have."""
    asked = f"(select {ask('holder', account)} from user_group as holder where holder.id = channel.{setting})"
    return asked if CHANNEL_SETTINGS[setting].allow_everyone else f"({account}.role < {Role.GUEST} and {asked})"


def granted_to_owner(setting: str) -> str:
    """Whether the account is a bot whose owner has the permission: a bot may send where its owner may."""
    return f"""
    (account.bot_owner_id is not null and exists (
        select from account as owner
        where owner.id = account.bot_owner_id and owner.is_active and {granted(setting, "owner")}
    ))
    """


def granted_by_realm(setting: str) -> str:
    """Whether the account holds a permission of the organization."""
    rule = REALM_SETTINGS[setting]
    asked = f"""
    (select {holds("holder", "account")} from user_group as holder where holder.id = coalesce(
        (select group_id from realm_permission
         where realm_permission.realm_id = account.realm_id and setting = '{setting}'),
        (select id from user_group where user_group.realm_id = account.realm_id and name = '{rule.default}')
    ))
    """
    return asked if rule.allow_everyone else f"({NOT_GUEST} and {asked})"


def subscribed(user_id: str = "account.id") -> str:
    """Whether a user is subscribed to the channel.

    `offset 0`: one index lookup for each channel. Without it the planner may read all subscriptions into a hash table.
    """
    return f"""
    exists (select from subscription
        where subscription.user_id = {user_id} and subscription.channel_id = channel.id and subscription.is_active offset 0)
    """


IS_SUBSCRIBED = subscribed()


def _joins_by_group(ask: Callable[[str, str], str]) -> str:
    return f"({granted('can_subscribe_group', ask=ask)} or {granted('can_add_subscribers_group', ask=ask)})"


def _may_read(ask: Callable[[str, str], str]) -> str:
    return f"""
    (channel.is_web_public or (not channel.invite_only and {NOT_GUEST}) or {IS_SUBSCRIBED}
        or ({NOT_GUEST} and {_joins_by_group(ask)}))
    """


JOINS_BY_GROUP = _joins_by_group(holds)
"""Whether a setting of a private channel opens it to the account."""

MAY_READ = _may_read(holds)
"""Content access: what is said in the channel. With protected history only what the account received."""

MAY_READ_BY_CLIMBING = _may_read(holds_by_climbing)
"""The same of many channels, where the groups of the account are `climbed` (organization/groups/webs/statements.py)."""

MAY_READ_MESSAGE = f"""
case when channel.id is null then account.id = any(conversation.participants) and message.seq <@ read_state.history
    else {MAY_READ} and (channel.history_public_to_subscribers
        or (message.seq <@ read_state.history and upper_inf(read_state.history)))
      and (account.id is not null or not channel.is_archived) end
"""
"""Whether a message is within the account's reach. Expects rows `message` and `conversation` as well, and, if they are there,
`channel`, `account` (not there: somebody without one) and the account's `read_state`."""

MAY_SEE = f"({MAY_READ} or {IS_ADMINISTRATOR} or {granted('can_administer_channel_group')})"
"""Metadata access: that the channel is there, what it is, and (guests: only where they are subscribed) who is in it."""

MAY_POST = f"({granted('can_send_message_group')} or {granted_to_owner('can_send_message_group')})"
"""Whether the account is among those whom the channel's settings allow to send."""

MAY_CREATE_TOPIC = f"({granted('can_create_topic_group')} or {granted_to_owner('can_create_topic_group')})"

MAY_SEND = f"""
(not channel.is_archived and {MAY_POST} and (
    channel.is_web_public or (not channel.invite_only and {NOT_GUEST}) or {IS_SUBSCRIBED}
    or (account.bot_owner_id is not null and {subscribed("account.bot_owner_id")})
    or (channel.history_public_to_subscribers and {NOT_GUEST} and {JOINS_BY_GROUP})
))
"""
"""Whether the account may send to the channel now. The sending statement asks this under its locks."""

MAY_SEND_PLAINLY = f"""
(not channel.is_archived and {granted("can_send_message_group")} and (
    channel.is_web_public or (not channel.invite_only and {NOT_GUEST}) or {IS_SUBSCRIBED}
))
"""
"""As MAY_SEND, without what is seldom the reason: an owner's rights, and groups that open a channel to those who are not in it.
Whoever is refused here has to be asked MAY_SEND."""
