"""Nothing that a bot has comes to its new owner: every table with accounts is emptied at a handover, or explained here."""

from tertulia.people.users.handover import Belongings
from tertulia.server.features import FEATURES
from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import check_success, unique

EMPTIED = [table for feature in FEATURES for one in feature.hooks.get(Belongings, ()) for table in one.tables]

PEOPLE = "people only have it: bots have no password, sessions or devices"
SEEN = "everybody who sees the bot sees it"
OF_MESSAGES = "read with the messages it belongs to, so by whoever may read those"
SHARE = "a person, never a bot: whose share of the organization's it takes"
EXPLAINED = {
    "account.bot_owner_id": "what the handover changes; bots own no bots",
    "api_key.user_id": "all keys end (revocation.py)",
    "bot_default.user_id": "names of channels, shown with the bot; administrators saw them before as well",
    "bot_service.user_id": "where its server is; the token is another (people/bots/tokens.py)",
    "browser_session.user_id": PEOPLE,
    "attachment.share_of": SHARE,
    "channel.share_of": SHARE,
    "custom_emoji.share_of": SHARE,
    "user_group.share_of": SHARE,
    "remote_picture.named_by": "whose picture waits; it is of a message",
    "link_preview.named_by": "whose link waits; it is of a message",
    "channel.creator_id": "who made a channel is shown with the channel",
    "channel_folder.creator_id": "who made a folder is shown with the folder",
    "custom_emoji.author_id": SEEN,
    "email_change.user_id": PEOPLE,
    "export_job.user_id": PEOPLE,
    "erasure.user_id": PEOPLE,
    "erasure.asked_by": PEOPLE,
    "held_copy.user_id": "nobody but the operator sees copies under a legal hold",
    "held_share.user_id": SHARE,
    "legal_hold.user_id": PEOPLE,
    "legal_hold.made_by": PEOPLE,
    "mail_batch.user_id": PEOPLE,
    "reply_address.user_id": PEOPLE,
    "missed_message.user_id": PEOPLE,
    "external_identity.user_id": PEOPLE,
    "group_member.user_id": SEEN,
    "hook_secret.user_id": "never shown to anybody; services that post for the bot go on",
    "invitation.inviter_id": PEOPLE,
    "login_place.user_id": PEOPLE,
    "message.sender_id": OF_MESSAGES,
    "message_mark.user_id": "emptied with the conversations (conversations/channels/handover.py)",
    "message_revision.user_id": OF_MESSAGES,
    "muted_user.muted_id": "what others decided about the bot is theirs",
    "muted_user.user_id": "numbers of people, and nothing that anybody wrote",
    "passkey.user_id": PEOPLE,
    "passkey_challenge.user_id": PEOPLE,
    "password_reset.user_id": PEOPLE,
    "scim_token.made_by": PEOPLE,
    "scim_user.user_id": PEOPLE,
    "presence.user_id": SEEN,
    "profile_value.user_id": SEEN,
    "push_subscription.user_id": PEOPLE,
    "reaction.user_id": OF_MESSAGES,
    "read_state.user_id": "cut off at the handover (conversations/channels/handover.py)",
    "recovery_code.user_id": PEOPLE,
    "second_factor.user_id": PEOPLE,
    "sent_request.sender_id": "the number of a message by a key that its sender chose, for a day",
    "submessage.sender_id": OF_MESSAGES,
    "subscription.user_id": "the bot leaves what its new owner cannot read (conversations/channels/handover.py)",
    "topic_participant.user_id": OF_MESSAGES,
    "topic_policy.user_id": "topics are named only where the bot sees their channel",
    "user_group.creator_id": SEEN,
    "user_status.user_id": SEEN,
}

REFERENCES = """
select class.relname || '.' || attribute.attname from pg_constraint as link
join pg_class as class on class.oid = link.conrelid
join pg_attribute as attribute on attribute.attrelid = class.oid and attribute.attnum = any(link.conkey)
where link.contype = 'f' and link.confrelid = 'account'::regclass and attribute.attname <> 'realm_id'
union select table_name || '.' || column_name from information_schema.columns
where table_schema = 'public' and column_name in ('user_id', 'owner_id', 'account_id', 'bot_id', 'sender_id')
"""


def test_every_table_with_accounts_is_emptied_at_a_handover_or_explained(stage: Stage) -> None:
    found = {name for (name,) in stage.sql(REFERENCES)}
    emptied = _of_emptied(stage)
    assert found - emptied - EXPLAINED.keys() == set(), "lend a `Belongings` (Feature.hooks), or explain it here"
    assert EXPLAINED.keys() - found == set(), "no such column any more"
    assert len(EMPTIED) == len(set(EMPTIED)) == len(emptied), "a table that has no account, or two features empty it"


ROWS = {
    "alert_word": "(realm_id, user_id, word_key, word, first_word) values (%(realm)s, %(bot)s, 'plum', 'plum', 'plum')",
    "attachment": "(realm_id, owner_id, path_id, key, name, size, content_type)"
    " values (%(realm)s, %(bot)s, %(word)s, %(word)s, 'plum', 1, 'text/plain')",
    "bot_storage": "(user_id, key, value, size) values (%(bot)s, 'plum', 'blue', 8)",
    "draft": "(user_id, topic, content, edited_at) values (%(bot)s, '', 'plum', now())",
    "hook_call": "(bot_id, message_id, due) values (%(bot)s, %(message)s, now() + interval '1 day')",
    "reminder": "(realm_id, user_id, message_id, note, rendered_note, due)"
    " values (%(realm)s, %(bot)s, %(message)s, 'plum', '', now() + interval '1 day')",
    "resumable_upload": "(id, realm_id, owner_id, name, size, expires_at)"
    " values (%(word)s, %(realm)s, %(bot)s, 'plum', 1, now() + interval '1 day')",
    "saved_snippet": "(user_id, title, content) values (%(bot)s, 'plum', 'plum')",
    "channel_address": "(channel_id, sender_id, digest, token)"
    " select id, %(bot)s, sha256('x'), 'x' from channel order by id limit 1",
    "scheduled_message": "(realm_id, user_id, user_ids, content, rendered, client, read, due)"
    " values (%(realm)s, %(bot)s, array[%(bot)s], 'plum', '', '', false, now() + interval '1 day')",
}
"""A row of each table that is emptied, also of those that no endpoint lets a bot fill."""


def test_what_features_say_they_empty_is_empty_after_a_handover(realm: Realm, stage: Stage) -> None:
    assert ROWS.keys() == set(EMPTIED)
    word = unique("bot").replace(" ", "-")
    bot_id = realm.member.post("bots", full_name=word, short_name=word)["user_id"]
    message_id = realm.member.send([bot_id], content="plum")
    for table, row in ROWS.items():
        values = {"realm": realm.id, "bot": bot_id, "message": message_id, "word": word}
        stage.sql(f"insert into {table} " + _filled(row, values))
    left = [f"select '{name}', count(*) from {name.replace('.', ' where ')} = {bot_id}" for name in _of_emptied(stage)]
    before = stage.sql(" union all ".join(left))
    assert {count for _, count in before} == {1}
    check_success(realm.administrator.request("PATCH", f"bots/{bot_id}", bot_owner_id=realm.administrator.id))
    assert [name for name, count in stage.sql(" union all ".join(left)) if count] == []


def _of_emptied(stage: Stage) -> set[str]:
    found = {name for (name,) in stage.sql(REFERENCES)}
    return {name for name in found - EXPLAINED.keys() if name.partition(".")[0] in EMPTIED}


def _filled(row: str, values: dict[str, object]) -> str:
    """Our own numbers and word, no text of a stranger."""
    return row % {name: f"'{value}'" if isinstance(value, str) else value for name, value in values.items()}
