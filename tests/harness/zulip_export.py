"""Exports as Zulip makes them: one organization, with every kind of row that we take, and those that we must not."""

import copy
import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness.hostile import image

Json = dict[str, Any]
BEGAN = 1_700_000_000.0
REALM = 7
ANA, BEA, CEM, GIL, GONE, HELPER, LATE = 11, 12, 13, 14, 15, 16, 17
SPEAKER, WELCOME = 3, 4
GENERAL, CLOSED, SHUT, OLD = 21, 22, 23, 24
RECIPIENT = {GENERAL: 121, CLOSED: 122, SHUT: 123, OLD: 124}
TO_BEA, GROUP, TWIN = 131, 141, 142
FILE = "7/ab/Sx3cretSx3cret/plan.txt"
READ, STARRED, MENTIONED, HISTORICAL = 1, 2, 8, 1024
SECRET = "never-take-this"


class Export(NamedTuple):
    """What is in it: entries of the tar by name, JSON or bytes."""

    entries: dict[str, Any]
    folder: str = "zulip-export-acme-x1"

    def write(self, file: Path, extra: list[tarfile.TarInfo] | None = None) -> Path:
        """As Zulip packs it: in one folder, compressed."""
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as tar:
            for name, content in self.entries.items():
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                about = tarfile.TarInfo(f"{self.folder}/{name}")
                about.size = len(data)
                tar.addfile(about, io.BytesIO(data))
            for about in extra or []:
                tar.addfile(about, io.BytesIO(bytes(about.size)))
        file.write_bytes(gzip.compress(plain.getvalue(), mtime=0))
        return file

    def changed(self) -> "Export":
        """One of its own, to change."""
        return Export(copy.deepcopy(self.entries), self.folder)

    @property
    def tables(self) -> dict[str, list[Json]]:
        found: dict[str, list[Json]] = self.entries["realm.json"]
        return found

    @property
    def messages(self) -> list[Json]:
        found: list[Json] = self.entries["messages-000001.json"]["zerver_message"]
        return found


def person(id: int, name: str, **more: Any) -> Json:
    email = f"{name.split(maxsplit=1)[0].lower()}@example.com"
    usual = {"role": 400, "is_active": True, "is_bot": False, "date_joined": BEGAN - 5000, "timezone": ""}
    secrets = {"api_key": SECRET, "password": SECRET, "uuid": SECRET}
    return {"id": id, "full_name": name, "delivery_email": email, "email": f"user{id}@host"} | usual | secrets | more


def people() -> list[Json]:
    return [
        person(ANA, "Ana Admin", role=100, timezone="Europe/Madrid", twenty_four_hour_time=True, web_font_size_px=9999),
        person(BEA, "Bea", role=300, timezone="Nowhere"),
        person(CEM, "Cem", long_term_idle=True),
        person(GIL, "Gil Guest", role=600),
        person(GONE, "Gone", is_active=False),
        person(HELPER, "Helper", is_bot=True, bot_type=3, bot_owner=BEA, delivery_email="helper-bot@host.example"),
        person(LATE, "Ana Again", delivery_email="ANA@example.com"),
    ]


def stream(id: int, name: str, **more: Any) -> Json:
    usual = {"invite_only": False, "history_public_to_subscribers": True, "is_web_public": False, "deactivated": False}
    about = {"description": f"About *{name}*", "rendered_description": "<b>x</b>", "email_token": SECRET}
    return {"id": id, "name": name, "date_created": BEGAN - 4000, "creator": ANA} | usual | about | more


def subscription(recipient: int, person: int, **more: Any) -> Json:
    usual = {"active": True, "color": "#76ce90", "is_muted": False, "pin_to_top": False, "push_notifications": None}
    return {"recipient": recipient, "user_profile": person} | usual | more


def message(id: int | str, sender: int, recipient: int, content: str, **more: Any) -> Json:
    usual = {
        "subject": "\x07",
        "date_sent": BEGAN + int(id) + 0.25,
        "sending_client": 1,
        "rendered_content": f"<p>{SECRET}</p>",
    }
    return {"id": id, "sender": sender, "recipient": recipient, "content": content} | usual | more


def said() -> list[Json]:
    general, closed, shut = RECIPIENT[GENERAL], RECIPIENT[CLOSED], RECIPIENT[SHUT]
    edits = [
        {"user_id": ANA, "timestamp": BEGAN + 500, "prev_topic": "plans", "topic": "Plans", "prev_stream": OLD,
         "stream": GENERAL},
        {"user_id": ANA, "timestamp": BEGAN + 400, "prev_subject": "ideas", "prev_content": "second draft",
         "prev_rendered_content": f"<p>{SECRET}</p>"},
        {"user_id": None, "timestamp": BEGAN + 300, "prev_content": "first draft"},
    ]  # fmt: skip
    return [
        message(1001, ANA, general, "hello **all** @**Bea|12**", subject="Plans", edit_history=json.dumps(edits)),
        message(1002, BEA, general, "second, see #**general>Plans@1001**", subject="plans"),
        message(1003, BEA, general, f"[plan.txt](/user_uploads/{FILE})", subject="files"),
        message(1004, ANA, general, "/poll Which?\none", subject="polls"),
        message(1005, GONE, general, "in no topic", subject=""),
        message(1006, SPEAKER, general, "somebody joined", subject="Plans"),
        message(1007, 99, general, "who was erased", subject="Plans"),
        message(1010, ANA, closed, "secret of the closed one", subject="x"),
        message(1011, ANA, shut, "before Bea came", subject="x"),
        message(1012, ANA, shut, "after Bea came", subject="x"),
        message(1020, ANA, TO_BEA, "secret of two, first"),
        message(1021, BEA, GROUP, "three, first", subject=""),
        message(1022, BEA, TWIN, "secret of two, second"),
        message(1030, ANA, RECIPIENT[OLD], "old news", subject="done"),
        message(1031, ANA, 4711, "to nobody knows whom"),
        message(1032, ANA, general, "no time", subject="x", date_sent=float("nan")),
        message(1033, ANA, general, " \x00 ", subject="x"),
        message(1034, ANA, general, "nul \x00 and half \ud83d here", subject="Plans"),
        message(1035, ANA, general, "word " * 3000, subject="Plans"),
        message("1036", ANA, general, "no id", subject="x"),
    ]  # fmt: skip


def received() -> list[Json]:
    rows = [
        *((person, id, READ) for person in (ANA, GIL) for id in range(1001, 1008)),
        (ANA, 1002, READ | STARRED),
        *((BEA, id, READ | (MENTIONED if id == 1001 else 0)) for id in (1001, 1002)),
        *((BEA, id, 0) for id in (1003, 1004)),
        *((BEA, id, READ) for id in (1005, 1006, 1007)),
        *((ANA, id, READ) for id in (1010, 1011, 1012, 1020)),
        (BEA, 1011, READ | HISTORICAL),
        (BEA, 1012, 0),
        (BEA, 1010, READ),
        (BEA, 1020, 0),
        (999, 1001, READ),
        (ANA, "x", READ),
    ]
    seen = {(person, id): flags for person, id, flags in rows}
    return [{"user_profile": person, "message": id, "flags_mask": flags} for (person, id), flags in seen.items()]


def tables() -> dict[str, Any]:
    realm = {"id": REALM, "name": "Acme", "string_id": "acme", "date_created": BEGAN - 9000, "description": "We make",
             "invite_required": False, "message_content_edit_limit_seconds": 60, "media_preview_size": "huge",
             "uuid_owner_secret": SECRET}  # fmt: skip
    everybody = [(GENERAL, one) for one in (ANA, BEA, CEM, GIL)]
    inside = [(CLOSED, ANA), (CLOSED, BEA), (SHUT, ANA), (SHUT, BEA), (SHUT, CEM)]
    return {
        "import_source": "",
        "zerver_realm": [realm],
        "zerver_userprofile": people(),
        "zerver_userprofile_mirrordummy": [],
        "zerver_userprofile_crossrealm": [
            {"id": SPEAKER, "email": "notification-bot@zulip.com"},
            {"id": WELCOME, "email": "welcome-bot@zulip.com"},
        ],
        "zerver_client": [{"id": 1, "name": "website"}],
        "zerver_stream": [
            stream(GENERAL, "general", folder=5, can_send_message_group=203),
            stream(CLOSED, "closed", invite_only=True),
            stream(SHUT, "shut", invite_only=True, history_public_to_subscribers=False),
            stream(OLD, "GENERAL", deactivated=True, invite_only=None),
        ],
        "zerver_recipient": [
            *({"id": id, "type": 2, "type_id": of} for of, id in RECIPIENT.items()),
            {"id": TO_BEA, "type": 1, "type_id": BEA},
            {"id": GROUP, "type": 3, "type_id": 1},
            {"id": TWIN, "type": 3, "type_id": 2},
        ],
        "zerver_subscription": [
            *(subscription(RECIPIENT[of], one) for of, one in (*everybody, *inside)),
            subscription(RECIPIENT[OLD], ANA, active=False, color="red", is_muted=True, pin_to_top=True),
            *(subscription(GROUP, one) for one in (ANA, BEA, CEM)),
            *(subscription(TWIN, one) for one in (ANA, BEA)),
        ],
        "zerver_defaultstream": [{"stream": GENERAL}],
        "zerver_channelfolder": [{"id": 5, "name": "Work", "order": 1, "creator": ANA, "date_created": BEGAN}],
        "zerver_usergroup": [{"id": id} for id in (201, 202, 203, 204)],
        "zerver_namedusergroup": [
            {"usergroup_ptr": 201, "name": "role:members", "is_system_group": True},
            {"usergroup_ptr": 202, "name": "builders", "description": "They build", "creator": ANA},
            {"usergroup_ptr": 204, "name": "all builders"},
        ],
        "zerver_usergroupmembership": [
            {"user_group": 201, "user_profile": ANA},
            {"user_group": 202, "user_profile": BEA},
            {"user_group": 203, "user_profile": ANA},
        ],
        "zerver_groupgroupmembership": [
            {"supergroup": 204, "subgroup": 202},
            {"supergroup": 202, "subgroup": 204},
        ],
        "zerver_customprofilefield": [
            {"id": 31, "name": "Phone", "field_type": 1, "field_data": "", "order": 1},
            {"id": 32, "name": "Odd", "field_type": 99, "field_data": "", "order": 2},
        ],
        "zerver_customprofilefieldvalue": [{"user_profile": ANA, "field": 31, "value": "123"}],
        "zerver_userstatus": [
            {"user_profile": ANA, "status_text": "out", "emoji_name": "palm_tree", "emoji_code": "1f334",
             "reaction_type": "unicode_emoji"},
        ],
        "zerver_alertword": [{"user_profile": ANA, "word": "urgent"}],
        "zerver_muteduser": [{"user_profile": ANA, "muted_user": GIL, "date_muted": BEGAN}],
        "zerver_usertopic": [
            {"user_profile": BEA, "stream": GENERAL, "topic_name": "PLANS", "visibility_policy": 3, "last_updated": BEGAN},
            {"user_profile": BEA, "stream": GENERAL, "topic_name": "never", "visibility_policy": 1, "last_updated": BEGAN},
        ],
        "zerver_realmemoji": [{"id": 41, "name": "our_own", "file_name": "41.png", "author": ANA, "deactivated": False}],
        "zerver_realmfilter": [
            {"id": 51, "pattern": "#(?P<id>[0-9]+)", "url_template": "https://bugs.example/{id}", "order": 1},
            {"id": 52, "pattern": "(((", "url_template": "https://x.example/{id}", "order": 2},
        ],
        "zerver_reaction": [
            reaction(1001, BEA, "+1", "1f44d"),
            reaction(1001, BEA, "+1", "1f44d"),
            reaction(1001, ANA, "our_own", "41", "realm_emoji"),
            reaction(1001, CEM, "zulip", "zulip", "zulip_extra_emoji"),
            reaction(1001, CEM, "gone", "42", "realm_emoji"),
        ],
        "zerver_submessage": [
            {"id": 61, "message": 1004, "sender": ANA, "msg_type": "widget",
             "content": json.dumps({"widget_type": "poll", "extra_data": {"question": "Which?", "options": ["one"]}})},
        ],
        "zerver_multiuseinvite": [{"confirmation_key": SECRET}],
    }  # fmt: skip


def reaction(message: int, person: int, name: str, code: str, kind: str = "unicode_emoji") -> Json:
    about = {"emoji_name": name, "emoji_code": code, "reaction_type": kind}
    return {"message": message, "user_profile": person} | about


def organization() -> Export:
    """A small one, with something of everything."""
    attachment = {"id": 71, "file_name": "plan.txt", "path_id": FILE, "owner": BEA, "create_time": BEGAN, "size": 8,
                  "content_type": "text/plain", "messages": [1003]}  # fmt: skip
    picture = image(64, 64)
    return Export(
        {
            "realm.json": tables(),
            "attachment.json": {"zerver_attachment": [attachment]},
            "messages-000001.json": {"zerver_message": said(), "zerver_usermessage": received()},
            "uploads/records.json": [{"path": FILE, "s3_path": FILE, "user_profile_id": BEA}],
            f"uploads/{FILE}": b"the plan",
            "avatars/records.json": [
                {"path": "7/aa.png", "user_profile_id": ANA},
                {"path": "7/aa.original", "user_profile_id": str(ANA)},
                {"path": "../../../etc/passwd", "user_profile_id": BEA},
            ],
            "avatars/7/aa.png": b"smaller",
            "avatars/7/aa.original": picture,
            "emoji/records.json": [{"path": "7/emoji/images/41.png", "file_name": "41.png", "name": "our_own"}],
            "emoji/7/emoji/images/41.png": picture,
            "realm_icons/records.json": [{"path": "7/realm/icon.original"}],
            "realm_icons/7/realm/icon.original": picture,
            "migration_status.json": {"migrations_by_app": {}},
        }
    )
