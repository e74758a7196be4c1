"""PATCH /realm: so far who holds the organization's permissions, and how long new members wait."""

from typing import Annotated

import msgspec

from tertulia.events.record import Audience, record
from tertulia.groups.actions import change_permissions, change_waiting_period
from tertulia.groups.values import ChangedValue
from tertulia.kernel.auth import Administrator, check_owner
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import patch

Days = Annotated[int, msgspec.Meta(ge=0, le=3650)]

OWNERS_DECIDE = frozenset(
    {"can_create_groups", "can_invite_users_group", "can_manage_all_groups", "create_multiuse_invite_group"}
)
"""Who comes in, and who rules over groups: by these an administrator could make themselves an owner's equal."""


@patch("/realm")
async def change_realm(
    caller: Administrator,
    tx: Transaction,
    *,
    waiting_period_threshold: Days | None = None,
    can_access_all_users_group: ChangedValue | None = None,
    can_add_custom_emoji_group: ChangedValue | None = None,
    can_add_subscribers_group: ChangedValue | None = None,
    can_create_bots_group: ChangedValue | None = None,
    can_create_groups: ChangedValue | None = None,
    can_create_private_channel_group: ChangedValue | None = None,
    can_create_public_channel_group: ChangedValue | None = None,
    can_create_web_public_channel_group: ChangedValue | None = None,
    can_create_write_only_bots_group: ChangedValue | None = None,
    can_delete_any_message_group: ChangedValue | None = None,
    can_delete_own_message_group: ChangedValue | None = None,
    can_invite_users_group: ChangedValue | None = None,
    can_manage_all_groups: ChangedValue | None = None,
    can_manage_billing_group: ChangedValue | None = None,
    can_mention_many_users_group: ChangedValue | None = None,
    can_move_messages_between_channels_group: ChangedValue | None = None,
    can_move_messages_between_topics_group: ChangedValue | None = None,
    can_resolve_topics_group: ChangedValue | None = None,
    can_set_delete_message_policy_group: ChangedValue | None = None,
    can_set_topics_policy_group: ChangedValue | None = None,
    can_summarize_topics_group: ChangedValue | None = None,
    create_multiuse_invite_group: ChangedValue | None = None,
    direct_message_initiator_group: ChangedValue | None = None,
    direct_message_permission_group: ChangedValue | None = None,
    workplace_users_group: ChangedValue | None = None,
) -> None:
    """Change the organization's settings. Some of them only owners may change."""
    settings = {
        "can_access_all_users_group": can_access_all_users_group,
        "can_add_custom_emoji_group": can_add_custom_emoji_group,
        "can_add_subscribers_group": can_add_subscribers_group,
        "can_create_bots_group": can_create_bots_group,
        "can_create_groups": can_create_groups,
        "can_create_private_channel_group": can_create_private_channel_group,
        "can_create_public_channel_group": can_create_public_channel_group,
        "can_create_web_public_channel_group": can_create_web_public_channel_group,
        "can_create_write_only_bots_group": can_create_write_only_bots_group,
        "can_delete_any_message_group": can_delete_any_message_group,
        "can_delete_own_message_group": can_delete_own_message_group,
        "can_invite_users_group": can_invite_users_group,
        "can_manage_all_groups": can_manage_all_groups,
        "can_manage_billing_group": can_manage_billing_group,
        "can_mention_many_users_group": can_mention_many_users_group,
        "can_move_messages_between_channels_group": can_move_messages_between_channels_group,
        "can_move_messages_between_topics_group": can_move_messages_between_topics_group,
        "can_resolve_topics_group": can_resolve_topics_group,
        "can_set_delete_message_policy_group": can_set_delete_message_policy_group,
        "can_set_topics_policy_group": can_set_topics_policy_group,
        "can_summarize_topics_group": can_summarize_topics_group,
        "create_multiuse_invite_group": create_multiuse_invite_group,
        "direct_message_initiator_group": direct_message_initiator_group,
        "direct_message_permission_group": direct_message_permission_group,
        "workplace_users_group": workplace_users_group,
    }
    changes = {setting: change for setting, change in settings.items() if change is not None}
    if waiting_period_threshold is not None or not OWNERS_DECIDE.isdisjoint(changes):
        check_owner(caller)
    if changes:
        await change_permissions(tx, caller.realm_id, changes)
    if waiting_period_threshold is not None:
        await change_waiting_period(tx, caller.realm_id, waiting_period_threshold)
        event = {"op": "update", "property": "waiting_period_threshold", "value": waiting_period_threshold}
        tx.emit(caller.realm_id, record(Audience(realm=True), "realm", event))
