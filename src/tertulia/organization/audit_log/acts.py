"""The acts of the log: the one list. What comes before the dot is the category, by which a reader filters."""

from enum import StrEnum


class Act(StrEnum):
    """What was done."""

    LOGIN_SUCCEEDED = "login.succeeded"
    LOGIN_FAILED = "login.failed"
    PROOF_FAILED = "login.proof_failed"
    SESSION_ENDED = "session.ended"
    KEY_MADE = "key.made"
    KEY_ENDED = "key.ended"
    SCIM_TOKEN_MADE = "scim_token.made"  # noqa: S105
    SCIM_TOKEN_REVOKED = "scim_token.revoked"  # noqa: S105
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 -- a name, not a password
    PASSWORD_RESET_ASKED = "password.reset_asked"  # noqa: S105
    PASSWORD_RESET = "password.reset"  # noqa: S105
    FACTOR_ADDED = "factor.added"
    FACTOR_REMOVED = "factor.removed"
    RECOVERY_CODE_USED = "factor.recovery_code_used"
    RECOVERY_CODES_RENEWED = "factor.recovery_codes_renewed"

    USER_CREATED = "user.created"
    USER_CHANGED = "user.changed"
    USER_ROLE_CHANGED = "user.role_changed"
    USER_EMAIL_CHANGED = "user.email_changed"
    USER_EMAIL_CHANGE_ASKED = "user.email_change_asked"
    USER_PROFILE_CHANGED = "user.profile_changed"
    USER_STATUS_CHANGED = "user.status_changed"
    USER_DEACTIVATED = "user.deactivated"
    USER_REACTIVATED = "user.reactivated"
    USER_ERASED = "user.erased"

    HOLD_ADDED = "hold.added"
    HOLD_REMOVED = "hold.removed"
    HOLD_EXPORTED = "hold.copies_exported"

    BOT_CREATED = "bot.created"
    BOT_CHANGED = "bot.changed"
    BOT_OWNER_CHANGED = "bot.owner_changed"

    GROUP_CREATED = "group.created"
    GROUP_CHANGED = "group.changed"
    GROUP_MEMBERS_CHANGED = "group.members_changed"
    GROUP_DEACTIVATED = "group.deactivated"
    GROUP_REACTIVATED = "group.reactivated"

    CHANNEL_CREATED = "channel.created"
    CHANNEL_CHANGED = "channel.changed"
    CHANNEL_ARCHIVED = "channel.archived"
    CHANNEL_UNARCHIVED = "channel.unarchived"
    CHANNEL_SUBSCRIBED = "channel.others_subscribed"
    CHANNEL_UNSUBSCRIBED = "channel.others_unsubscribed"
    FOLDER_CREATED = "folder.created"
    FOLDER_CHANGED = "folder.changed"

    REALM_CREATED = "organization.created"
    REALM_CHANGED = "organization.settings_changed"
    REALM_PERMISSIONS_CHANGED = "organization.permissions_changed"
    REALM_DEFAULTS_CHANGED = "organization.user_defaults_changed"
    REALM_PICTURE_CHANGED = "organization.picture_changed"
    DOMAIN_ADDED = "domain.added"
    DOMAIN_CHANGED = "domain.changed"
    DOMAIN_REMOVED = "domain.removed"
    EMOJI_ADDED = "emoji.added"
    EMOJI_DEACTIVATED = "emoji.deactivated"
    LINKIFIER_ADDED = "linkifier.added"
    LINKIFIER_CHANGED = "linkifier.changed"
    LINKIFIER_REMOVED = "linkifier.removed"
    PLAYGROUND_ADDED = "playground.added"
    PLAYGROUND_REMOVED = "playground.removed"
    PROFILE_FIELD_CREATED = "profile_field.created"
    PROFILE_FIELD_CHANGED = "profile_field.changed"
    PROFILE_FIELD_DELETED = "profile_field.deleted"

    INVITATION_SENT = "invitation.sent"
    INVITATION_LINK_MADE = "invitation.link_made"
    INVITATION_REVOKED = "invitation.revoked"
    INVITATION_RESENT = "invitation.resent"

    EXPORT_ASKED = "export.asked"
    EXPORT_FETCHED = "export.fetched"
    EXPORT_DELETED = "export.deleted"

    MESSAGE_DELETED = "message.deleted"
    TOPIC_DELETED = "message.topic_deleted"

    @property
    def category(self) -> str:
        """What it is about."""
        return self.value.partition(".")[0]
