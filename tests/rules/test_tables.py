"""A feature writes only its own tables. Whoever reads may join what they like; what is written has one home.

Where one statement has to write several tables at once, or a column of an account belongs to another feature, the exception
is listed here with its reason.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tertulia"
MIGRATIONS = SOURCE / "migrations"

OWNERS = {
    "content/storage": "orphan_object",
    "conversations/channels": "channel channel_day conversation default_channel subscription",
    "conversations/folders": "channel_folder",
    "conversations/invitations": "invitation invitation_mails signup",
    "conversations/mutes": "muted_user",
    "conversations/read_state": "message_mark read_state",
    "conversations/topics": "topic topic_policy",
    "events/relay": "relay_checkpoint relay_state",
    "files/remote_pictures": "remote_picture remote_picture_link remote_picture_space",
    "files/resumable": "resumable_upload",
    "files/uploads": "attachment attachment_link held_share upload_space",
    "integrations/incoming": "hook_secret",
    "integrations/outgoing": "hook_call",
    "integrations/scim": "scim_group scim_token scim_user",
    "kernel": "audit_detail audit_entry mail_failure mail_outbox",
    "messaging/link_previews": "link_preview link_preview_removed link_preview_wait",
    "messaging/drafts": "draft",
    "messaging/erasure": "erasure held_copy legal_hold",
    "messaging/editing": "message_revision rendering_pass",
    "messaging/pins": "pin",
    "messaging/reactions": "reaction",
    "messaging/reminders": "reminder",
    "messaging/scheduled": "scheduled_message",
    "messaging/sending": "message message_group_mention sent_request topic_participant",
    "messaging/snippets": "saved_snippet",
    "messaging/widgets": "submessage",
    "migrations": "oldest_program",
    "notifications/deciding": "push_due",
    "notifications/weekly_mail": "digest_run",
    "notifications/mail_in": "channel_address reply_address",
    "notifications/missed_mail": "mail_batch missed_message",
    "notifications/push": "push_call push_key push_subscription",
    "organization/custom_emoji": "custom_emoji",
    "organization/groups": "group_member group_subgroup realm_permission user_group",
    "organization/linkifiers": "linkifier",
    "organization/notices": "notice",
    "organization/playgrounds": "playground",
    "archives/loading": "realm_import",
    "archives/exports": "export_job",
    "organization/realms": "realm realm_domain realm_picture",
    "people/alert_words": "alert_word",
    "people/bots": "bot_default bot_service bot_storage",
    "people/directories": "directory_sync",
    "people/factors": "passkey passkey_challenge recovery_code second_factor",
    "people/logins": "api_key email_change external_identity login_failure login_place password_reset",
    "people/presence": "presence presence_clock",
    "people/profiles": "profile_field profile_value",
    "people/sessions": "browser_session provider_logout",
    "people/statuses": "user_status",
    "people/users": "account",
}

ONE_STATEMENT = "the sending statement: one round trip for all that a message writes"
CHANGED = "what becomes of messages when they are changed, moved or deleted, under the locks of their conversation"
OWN_COLUMNS = "columns of its own"
BULK = "test data in bulk, as the statements of the features would write it"
REVOKED = "keys and sessions end in one place, which tells the requests that wait with one"
TURNED_OFF = "in the transaction that turns accounts on or off; what happens there belongs into features above users"

IMPORTED = "an organization that nobody sees yet: its rows come as they are, by COPY; these few follow from them"

ERASED = (
    "what becomes of a table when a person is erased has one home (messaging/erasure/tables.py), and so have the steps"
)

EXCEPTIONS = {
    "messaging/erasure": dict.fromkeys(
        (
            *("account", "export_job", "invitation", "login_failure", "mail_failure", "mail_outbox", "message"),
            *("message_revision", "notice", "provider_logout", "reaction", "signup", "submessage", "topic_participant"),
        ),
        ERASED,
    ),
    "archives/loading": dict.fromkeys(
        ("account", "attachment", "channel", "message", "read_state", "realm", "remote_picture", "upload_space"),
        IMPORTED,
    ),
    "cli": dict.fromkeys(("conversation", "message_mark", "read_state", "topic"), BULK),
    "conversations/channels": {
        "read_state": "subscribing begins and ends what somebody receives, in the same statement"
    },
    "files/uploads": {"orphan_object": "an upload adopts its object and becomes a row in one statement"},
    "messaging/editing": {
        "conversation": CHANGED,
        "message": CHANGED,
        "message_group_mention": CHANGED,
        "message_mark": CHANGED,
        "read_state": CHANGED,
        "topic": CHANGED,
    },
    "messaging/sending": {
        "attachment_link": ONE_STATEMENT,
        "conversation": ONE_STATEMENT + "; direct conversations begin with a message",
        "message_mark": ONE_STATEMENT,
        "read_state": ONE_STATEMENT + "; direct conversations begin with a message",
        "submessage": ONE_STATEMENT,
        "topic": ONE_STATEMENT,
    },
    "organization/audit_log": {"realm": "how long entries are kept, from before that had an end"},
    "organization/groups": {"realm": "when the waiting period of new members was judged last: who is a full member"},
    "organization/realms": {"account": "the notification bot is made with its realm, which is below people"},
    "people/avatars": {"account": OWN_COLUMNS},
    "people/bots": {"account": OWN_COLUMNS},
    "people/logins": {
        "account": OWN_COLUMNS,
    },
    "people/preferences": {"account": OWN_COLUMNS, "realm": OWN_COLUMNS},
    "people/users": {
        "api_key": "an account is made with its first key; " + REVOKED,
        "browser_session": "authentication notes that a session is in use; " + REVOKED,
        "channel": TURNED_OFF,
        "channel_address": REVOKED,
        "email_change": TURNED_OFF,
        "invitation": TURNED_OFF,
        "password_reset": TURNED_OFF,
        "reply_address": REVOKED,
        "scim_token": "authentication notes that a token is in use",
    },
}

BY_TRIGGERS = {("held_share", "files/uploads")}
"""Written by the database alone (migration 0016), with the copies under a hold."""

WRITES = re.compile(r"\b(?:insert\s+into|delete\s+from|update)\s+(\w+)", flags=re.IGNORECASE)


def tables() -> set[str]:
    pages = [*MIGRATIONS.glob("first_release/*.sql"), *MIGRATIONS.glob("versions/*.py")]
    text = "".join(page.read_text() for page in pages)
    return set(re.findall(r"\bcreate table (\w+)", text)) - set(re.findall(r"\bdrop table (\w+)", text))


def package_of(module: Path) -> str:
    """The feature a module belongs to: `area/feature`, or the area alone."""
    area, *inner = module.relative_to(SOURCE).parts
    return f"{area}/{inner[0]}" if len(inner) > 1 else area


def writes() -> set[tuple[str, str]]:
    """Tables that are written, each with a package that does."""
    known = tables()
    return {
        (table, package_of(module))
        for module in SOURCE.rglob("*.py")
        if MIGRATIONS / "versions" not in module.parents
        for table in WRITES.findall(module.read_text())
        if table in known
    }


def test_every_table_has_one_owner_that_writes_it() -> None:
    owned = [(table, package) for package, names in OWNERS.items() for table in names.split()]
    assert sorted(table for table, _ in owned) == sorted(tables())
    assert set(owned) - writes() == BY_TRIGGERS


def test_a_feature_writes_only_its_own_tables() -> None:
    owned = {(table, package) for package, names in OWNERS.items() for table in names.split()}
    allowed = {(table, package) for package, reasons in EXCEPTIONS.items() for table in reasons}
    assert writes() - owned - allowed == set()
    assert allowed - writes() == set(), "exceptions that nobody needs any more"


def test_settings_of_a_realm_are_decoded_where_its_row_is_read() -> None:
    decoding = {
        str(module.relative_to(SOURCE))
        for module in SOURCE.rglob("*.py")
        if re.search(r"\bdecode_realm\(", module.read_text())
    }
    reading = {name for name in decoding if name.endswith("queries.py")}
    assert decoding - reading == {"organization/realms/settings.py"}
