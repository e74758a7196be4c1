"""What becomes of each table when a person is erased: the one list. A table that is not in it fails a test."""

import msgspec


class Gone(msgspec.Struct, frozen=True):
    """Rows of the person, and of their bots, are deleted."""

    column: str
    is_large: bool = False
    """There may be very many: they go in portions, after the first transaction."""
    also: tuple[str, ...] = ()
    """Other columns that name people: these rows stay, and why is said below."""
    why: str = ""


class Special(msgspec.Struct, frozen=True):
    """A step of its own (scrubbing.py, messages.py, texts.py)."""

    how: str
    columns: tuple[str, ...] = ()


class Kept(msgspec.Struct, frozen=True):
    """It stays, for a reason."""

    why: str
    columns: tuple[str, ...] = ()
    """Which name the person: by a number."""


Line = Gone | Special | Kept

NOBODY = "holds nothing of a person"
NUMBER = "holds the number of an account that has no name"
AS_ASKED = "as was asked for messages"
BY_ADDRESS = "rows with the person's address are deleted"
RENAMED = "where it names the person by a mention, the name is replaced"
COPIES = "what was written to somebody who is under a legal hold leaves a copy"

TABLES: dict[str, Line] = {
    "account": Special("name, address, password, picture and settings are emptied", ("bot_owner_id", "id")),
    "alert_word": Gone("user_id"),
    "api_key": Gone("user_id"),
    "attachment": Special("files are deleted, and their objects in the store", ("owner_id", "share_of")),
    "attachment_link": Special("goes with the file or the message"),
    "audit_detail": Special("what names the person is deleted", ("subject_id",)),
    "audit_entry": Kept("entries hold numbers, and are never changed", ("actor_id", "target_id")),
    "bot_default": Gone("user_id"),
    "bot_service": Gone("user_id"),
    "bot_storage": Gone("user_id"),
    "browser_session": Gone("user_id"),
    "channel": Kept("what it is for names nobody by a mention; who made it is a number", ("creator_id", "share_of")),
    "channel_address": Gone("sender_id"),
    "channel_day": Kept(NOBODY),
    "channel_folder": Kept("what it is for names nobody by a mention; who made it is a number", ("creator_id",)),
    "conversation": Kept(
        "who talked to whom directly, by numbers: the others still read what they wrote", ("participants",)
    ),
    "custom_emoji": Kept(NUMBER, ("author_id", "share_of")),
    "default_channel": Kept(NOBODY),
    "digest_run": Kept(NUMBER, ("after_user",)),
    "directory_sync": Kept(NOBODY),
    "draft": Gone("user_id", also=("user_ids",), why="in drafts of others " + RENAMED),
    "email_change": Gone("user_id"),
    "erasure": Kept("the erasure itself: numbers and times", ("user_id", "account_ids", "asked_by")),
    "export_job": Special(
        "all archives of the organization and of its people that were asked for before are deleted from the store",
        ("user_id",),
    ),
    "external_identity": Gone("user_id"),
    "group_member": Gone("user_id"),
    "group_subgroup": Kept(NOBODY),
    "held_copy": Kept(COPIES, ("user_id",)),
    "held_share": Kept(NUMBER, ("user_id",)),
    "hook_call": Gone("bot_id"),
    "hook_secret": Gone("user_id"),
    "invitation": Gone("inviter_id", why="and those to the person's address"),
    "invitation_mails": Kept(NOBODY),
    "legal_hold": Kept("nobody is erased while one stands", ("user_id", "made_by")),
    "link_preview": Kept("what pages say of themselves; who linked one is a number", ("named_by",)),
    "link_preview_removed": Special("goes with the message"),
    "link_preview_wait": Special("goes with the message"),
    "linkifier": Kept(NOBODY),
    "login_failure": Special(BY_ADDRESS),
    "login_place": Gone("user_id"),
    "mail_batch": Gone("user_id"),
    "mail_failure": Special(BY_ADDRESS),
    "mail_outbox": Special(BY_ADDRESS + ", if no other account has it; others that are on their way are sent"),
    "message": Special(AS_ASKED + "; in those of others " + RENAMED, ("sender_id",)),
    "message_group_mention": Special("goes with the message"),
    "message_mark": Gone("user_id", is_large=True),
    "message_revision": Special(AS_ASKED + "; in those of others " + RENAMED, ("user_id",)),
    "missed_message": Gone("user_id"),
    "muted_user": Gone("user_id", also=("muted_id",), why="what others muted is theirs, and a number"),
    "notice": Special(RENAMED),
    "oldest_program": Kept(NOBODY),
    "orphan_object": Special("objects of the person's files, until they are deleted a moment later"),
    "passkey": Gone("user_id"),
    "passkey_challenge": Gone("user_id"),
    "password_reset": Gone("user_id"),
    "pin": Special("goes with the message"),
    "playground": Kept(NOBODY),
    "presence": Gone("user_id"),
    "presence_clock": Kept(NOBODY),
    "profile_field": Kept(NOBODY),
    "profile_value": Gone("user_id"),
    "provider_logout": Special("log-outs at the person's provider are deleted"),
    "push_call": Special("goes with the browser that wanted it"),
    "push_due": Kept(NUMBER, ("after_user", "former_names")),
    "push_key": Kept(NOBODY),
    "push_subscription": Gone("user_id"),
    "reaction": Special(AS_ASKED + ": kept with them, else deleted", ("user_id",)),
    "read_state": Gone("user_id", is_large=True),
    "realm": Kept(NOBODY),
    "realm_domain": Kept(NOBODY),
    "realm_import": Kept(NOBODY),
    "realm_permission": Kept(NOBODY),
    "realm_picture": Kept(NOBODY),
    "recovery_code": Gone("user_id"),
    "relay_checkpoint": Kept(NOBODY),
    "relay_state": Kept(NOBODY),
    "reminder": Gone("user_id"),
    "remote_picture": Kept("pictures from elsewhere; who showed one is a number", ("named_by",)),
    "remote_picture_link": Special("goes with the message"),
    "remote_picture_space": Kept(NOBODY),
    "rendering_pass": Kept(NOBODY),
    "reply_address": Gone("user_id"),
    "resumable_upload": Gone("owner_id"),
    "saved_snippet": Gone("user_id", why="in snippets of others " + RENAMED),
    "scheduled_message": Gone("user_id", also=("user_ids",), why="in those of others " + RENAMED),
    "schema_version": Kept(NOBODY),
    "scim_group": Kept(NOBODY),
    "scim_token": Kept(NUMBER, ("made_by",)),
    "scim_user": Gone("user_id"),
    "second_factor": Gone("user_id"),
    "sent_request": Gone("sender_id", is_large=True),
    "signup": Special(BY_ADDRESS),
    "submessage": Special(AS_ASKED, ("sender_id",)),
    "subscription": Gone("user_id"),
    "topic": Kept("what topics are called is content of the channel"),
    "topic_participant": Special(AS_ASKED + ": kept with them, else deleted", ("user_id",)),
    "topic_policy": Gone("user_id"),
    "upload_space": Special("what the files took is given back"),
    "user_group": Kept(NUMBER, ("creator_id", "share_of")),
    "user_status": Gone("user_id"),
}


def columns_of(line: Line) -> tuple[str, ...]:
    """Which columns of a table name people, as its line says."""
    return (line.column, *line.also) if isinstance(line, Gone) else line.columns


def explanation_of(line: Line) -> str:
    """What is done, or why nothing is, in words."""
    if isinstance(line, Gone):
        return "deleted" + (f"; {line.why}" if line.why else "")
    return line.how if isinstance(line, Special) else line.why
