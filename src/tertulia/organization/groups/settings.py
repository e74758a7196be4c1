"""Permission settings: which there are, who holds them by default, and which groups they may name (pure).

This table is published by POST /register, asked when a permission is exercised, and enforced when one is changed.
"""

import msgspec

from tertulia.organization.groups.system import SystemGroup

CREATOR = "creator"
"""Default of a setting that starts with whoever made the thing."""


class SettingRule(msgspec.Struct, frozen=True):
    """What a permission setting allows."""

    name: str
    default: SystemGroup | str
    allow_everyone: bool = True
    """Whether guests may hold it: without this they are refused, whatever the value says."""
    allow_nobody: bool = True
    allow_internet: bool = False
    require_system_group: bool = False
    allowed_system_groups: tuple[SystemGroup, ...] = ()
    """Empty: all that the other columns allow."""
    forbidden: tuple[SystemGroup, ...] = ()


def _rules(*rules: SettingRule) -> dict[str, SettingRule]:
    return {rule.name: rule for rule in rules}


_G = SystemGroup

REALM_SETTINGS = _rules(
    SettingRule(
        "can_access_all_users_group",
        _G.EVERYONE,
        allow_nobody=False,
        require_system_group=True,
        allowed_system_groups=(_G.EVERYONE, _G.MEMBERS),
    ),
    SettingRule("can_add_custom_emoji_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_add_subscribers_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_create_bots_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_create_groups", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_create_private_channel_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_create_public_channel_group", _G.MEMBERS, allow_everyone=False),
    SettingRule(
        "can_create_web_public_channel_group",
        _G.OWNERS,
        allow_everyone=False,
        require_system_group=True,
        allowed_system_groups=(_G.MODERATORS, _G.ADMINISTRATORS, _G.OWNERS, _G.NOBODY),
    ),
    SettingRule("can_create_write_only_bots_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_delete_any_message_group", _G.ADMINISTRATORS, allow_everyone=False),
    SettingRule("can_delete_own_message_group", _G.EVERYONE),
    SettingRule("can_invite_users_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_manage_all_groups", _G.OWNERS, allow_everyone=False, allow_nobody=False),
    SettingRule("can_manage_billing_group", _G.ADMINISTRATORS, allow_everyone=False, allow_nobody=False),
    SettingRule("can_mention_many_users_group", _G.ADMINISTRATORS),
    SettingRule("can_move_messages_between_channels_group", _G.MEMBERS, allow_everyone=False),
    SettingRule("can_move_messages_between_topics_group", _G.EVERYONE),
    SettingRule("can_resolve_topics_group", _G.EVERYONE),
    SettingRule("can_set_delete_message_policy_group", _G.MODERATORS, allow_everyone=False),
    SettingRule("can_set_topics_policy_group", _G.MEMBERS),
    SettingRule("can_summarize_topics_group", _G.EVERYONE),
    SettingRule("create_multiuse_invite_group", _G.ADMINISTRATORS, allow_everyone=False),
    SettingRule("direct_message_initiator_group", _G.EVERYONE),
    SettingRule("direct_message_permission_group", _G.EVERYONE),
    SettingRule("workplace_users_group", _G.EVERYONE),
)

ONLY_KEPT = {
    "can_manage_billing_group": "Nothing is paid for here.",
    "can_summarize_topics_group": "This server summarizes nothing.",
    "workplace_users_group": "For servers that are paid by the person.",
}
"""Those of the organization that permit nothing here, kept for other clients, and why. The API description says so."""

CHANNEL_SETTINGS = _rules(
    SettingRule("can_add_subscribers_group", _G.NOBODY, allow_everyone=False),
    SettingRule("can_administer_channel_group", CREATOR, allow_everyone=False),
    SettingRule("can_create_topic_group", _G.EVERYONE),
    SettingRule("can_delete_any_message_group", _G.NOBODY),
    SettingRule("can_delete_own_message_group", _G.NOBODY),
    SettingRule("can_move_messages_out_of_channel_group", _G.NOBODY),
    SettingRule("can_move_messages_within_channel_group", _G.NOBODY),
    SettingRule("can_remove_subscribers_group", _G.ADMINISTRATORS),
    SettingRule("can_resolve_topics_group", _G.NOBODY),
    SettingRule("can_send_message_group", _G.EVERYONE),
    SettingRule("can_subscribe_group", _G.NOBODY, allow_everyone=False),
)

GROUP_SETTINGS = _rules(
    SettingRule("can_add_members_group", CREATOR, allow_everyone=False),
    SettingRule("can_join_group", _G.NOBODY, allow_everyone=False),
    SettingRule("can_leave_group", _G.EVERYONE),
    SettingRule("can_manage_group", CREATOR, allow_everyone=False),
    SettingRule("can_mention_group", _G.EVERYONE, forbidden=(_G.OWNERS,)),
    SettingRule("can_remove_members_group", _G.NOBODY, allow_everyone=False),
)


def published(rules: dict[str, SettingRule], creator_word: str) -> dict[str, dict[str, object]]:
    """The rules as POST /register shows them; `creator_word` is what the default CREATOR is called there."""
    return {
        name: {
            "require_system_group": rule.require_system_group,
            "allow_internet_group": rule.allow_internet,
            "allow_nobody_group": rule.allow_nobody,
            "allow_everyone_group": rule.allow_everyone,
            "default_group_name": creator_word if rule.default == CREATOR else str(rule.default),
            "default_for_system_groups": "role:nobody" if rules is GROUP_SETTINGS else None,
            "allowed_system_groups": [str(group) for group in rule.allowed_system_groups],
        }
        for name, rule in rules.items()
    }
