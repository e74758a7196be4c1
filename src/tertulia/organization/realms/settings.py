"""An organization's settings: the stored ones are only those that differ from the defaults here.

The types say what a setting may be: the parameters of PATCH /realm are made of them.
"""

import functools
from typing import Annotated, Any, Literal, get_type_hints

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.freezing import NOTE

Days = Annotated[int, msgspec.Meta(ge=0, le=3650)]
Weekday = Annotated[int, msgspec.Meta(ge=0, le=6)]
Language = Annotated[str, msgspec.Meta(max_length=50)]
CodeLanguage = Annotated[str, msgspec.Meta(max_length=40)]
Welcome = Annotated[str, msgspec.Meta(max_length=8000)]
PreviewSize = Annotated[int, msgspec.Meta(ge=100, le=200)]
NO_CHANNEL = -1
KEEP_FOR_EVER = -1


class RealmSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Published by POST /register with the prefix `realm_`."""

    empty_topic_display_name: str = "general chat"
    topics_policy: Literal["allow_empty_topic", "disable_empty_topic"] = "allow_empty_topic"
    default_language: Language = "en"
    default_code_block_language: CodeLanguage = ""
    allow_message_editing: bool = True
    message_content_edit_limit_seconds: int | None = 600
    message_content_delete_limit_seconds: int | None = 600
    move_messages_within_stream_limit_seconds: int | None = 604_800
    move_messages_between_streams_limit_seconds: int | None = 604_800
    message_edit_history_visibility_policy: Literal["all", "moves", "none"] = "all"
    message_retention_days: int = KEEP_FOR_EVER
    enable_read_receipts: bool = False
    enable_spectator_access: bool = False
    want_advertise_in_communities_directory: bool = False
    invite_required: bool = True
    disallow_disposable_email_addresses: bool = True
    emails_restricted_to_domains: bool = False
    require_unique_names: bool = False
    name_changes_disabled: bool = False
    email_changes_disabled: bool = False
    avatar_changes_disabled: bool = False
    enable_guest_user_indicator: bool = True
    enable_guest_user_dm_warning: bool = True
    send_channel_events_messages: bool = False
    digest_emails_enabled: bool = False
    digest_weekday: Weekday = 1
    send_welcome_emails: bool = True
    message_content_allowed_in_email_notifications: bool = True
    inline_image_preview: bool = True
    inline_url_embed_preview: bool = False
    media_preview_size: PreviewSize = 100
    presence_disabled: bool = False
    waiting_period_threshold: Days = 0
    video_chat_provider: Literal[0, 1] = 1
    jitsi_server_url: str | None = None
    """Where calls are held; None: at the server that the operator named, if there is one."""
    gif_rating_policy: Literal[0, 1, 2, 3, 4] = 1
    org_type: Literal[0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000] = 0
    welcome_message_custom_text: Welcome = ""
    new_stream_announcements_stream_id: int = NO_CHANNEL
    signup_announcements_stream_id: int = NO_CHANNEL
    moderation_request_channel_id: int = NO_CHANNEL
    second_factor_rule: Literal["nobody", "administrators", "everybody"] = "nobody"
    """Who has to have a second factor to log in."""
    second_factor_grace_days: Days = 14
    """How long people who have to have one log in without, from the first login on to which the rule applies."""
    audit_log_retention_days: int = 365
    """How long entries of the audit log are kept. The database knows the default as well (first_release/audit.sql)."""
    password_auth_enabled: bool = True


TIME_LIMITS = (
    "message_content_edit_limit_seconds",
    "message_content_delete_limit_seconds",
    "move_messages_within_stream_limit_seconds",
    "move_messages_between_streams_limit_seconds",
)
"""Seconds, or `unlimited` on the wire and None here."""
CHANNELS = ("new_stream_announcements_stream_id", "signup_announcements_stream_id", "moderation_request_channel_id")
"""Settings that name a channel, or NO_CHANNEL."""
PRIVATE_CHANNELS = frozenset({"moderation_request_channel_id"})
"""Those that name a private one."""
RETENTION = "message_retention_days"
AUDIT_RETENTION = "audit_log_retention_days"
SHORTEST_AUDIT_RETENTION = 30
"""Whoever takes over an owner's account must not be able to empty the log behind them."""
CALLS = "jitsi_server_url"
WAITING_PERIOD = "waiting_period_threshold"
_ELSEWHERE = {*TIME_LIMITS, RETENTION, AUDIT_RETENTION, CALLS, "empty_topic_display_name", "password_auth_enabled"}

CHANGEABLE: dict[str, Any] = (
    {name: hint for name, hint in get_type_hints(RealmSettings, include_extras=True).items() if name not in _ELSEWHERE}
    | dict.fromkeys((*TIME_LIMITS, RETENTION, AUDIT_RETENTION), int | str)
    | {CALLS: str}
)
"""What PATCH /realm takes of them. Limits may be a word, and so may the server for calls."""

ONLY_KEPT = {
    "want_advertise_in_communities_directory": "There is no directory of organizations.",
    "enable_guest_user_indicator": "For clients that mark guests on demand: the web client shows roles in its lists.",
    "enable_guest_user_dm_warning": "For clients that warn before a direct message to a guest.",
    "media_preview_size": "For clients that let people choose how large previews are.",
    "gif_rating_policy": "For clients that search GIFs with a service of their own: the web client asks none.",
    "org_type": "For clients that show it.",
}
"""Settings that nothing here obeys, kept and told for other clients, and why. The API description says so."""

OWNERS_DECIDE = frozenset({
    *("can_create_groups", "can_invite_users_group", "can_manage_all_groups", "create_multiuse_invite_group"),
    *("disallow_disposable_email_addresses", "emails_restricted_to_domains", "invite_required"),
    *(RETENTION, AUDIT_RETENTION, WAITING_PERIOD, "second_factor_rule", "second_factor_grace_days"),
})  # fmt: skip
"""Who comes in, who rules over groups, and what is destroyed: by these an administrator could be an owner's equal."""


_NOTES = {
    "has_alert_words": "_alerts",
    "vocabulary": "_vocabulary",
    "has_pushes": "_pushes",
    "picture_key": "_picture_key",
    "frozen": NOTE,
    "moved_to": "_moved_to",
    "waiting": "_waiting",
}


class RealmNotes(msgspec.Struct, frozen=True, rename=_NOTES):
    """What the database notes among the settings for itself, so that a request knows it without asking."""

    has_alert_words: bool = False
    """Whether anybody in the realm ever had alert words."""
    vocabulary: int = 0
    """Grows with each change of linkifiers and custom emoji; 0: there never were any."""
    has_pushes: bool = False
    """Whether anybody in the realm ever subscribed a browser to pushes."""
    picture_key: str = ""
    """Signs the addresses of pictures from elsewhere. A secret, made with the realm, that never changes: HTML is stored."""
    frozen: str = ""
    """Since when it is read only, because it is being moved (kernel/freezing.py); nothing: it is not."""
    moved_to: str = ""
    """Where it has gone, if its operator said so."""
    waiting: str = ""
    """For its owner (waiting.py): the digest of the key that begins it, and until when it is good; nothing: it does not."""


class RealmFacts(msgspec.Struct, frozen=True):
    """All that a realm's column `settings` says. It comes with every caller."""

    settings: RealmSettings
    notes: RealmNotes


@functools.lru_cache(maxsize=1024)
def decode_realm(stored: str) -> RealmFacts:
    """What is stored as a realm's settings. Equal texts are decoded once: those who call from one realm share the result."""
    return RealmFacts(
        msgspec.json.decode(stored, type=RealmSettings),
        msgspec.json.decode(stored, type=RealmNotes),
    )


def settings_of(caller: Caller) -> RealmSettings:
    """The settings of the caller's organization, as of their request."""
    assert isinstance(caller.realm, RealmFacts)
    return caller.realm.settings


def gone(notes: RealmNotes) -> str:
    """What is said of an organization that lets nobody in."""
    if notes.moved_to:
        return f"This organization has moved to {notes.moved_to} and is no longer here."
    return "This organization has been deactivated."


def notes_of(caller: Caller) -> RealmNotes:
    """What the database noted about the caller's organization, as of their request."""
    assert isinstance(caller.realm, RealmFacts)
    return caller.realm.notes
