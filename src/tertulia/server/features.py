"""The one list of features. A new feature is one line here: its package, which says in its file feature.py what it brings.

From the lowest area to the highest, as imports run; the parts of POST /register come in this order.
"""

from importlib import import_module

from tertulia.events.feature import Feature
from tertulia.server.ground import GROUND

_PACKAGES = (
    "organization.audit_log",
    "organization.realms",
    "organization.groups",
    "organization.custom_emoji",
    "organization.linkifiers",
    "organization.playgrounds",
    "people.users",
    "people.factors",
    "people.logins",
    "people.directories",
    "people.sessions",
    "people.avatars",
    "people.devices",
    "people.preferences",
    "people.profiles",
    "people.alert_words",
    "people.presence",
    "people.statuses",
    "people.bots",
    "conversations.read_state",
    "conversations.folders",
    "conversations.mutes",
    "conversations.channels",
    "conversations.topics",
    "conversations.invitations",
    "conversations.beginnings",
    "files.uploads",
    "files.remote_pictures",
    "files.downloads",
    "files.resumable",
    "messaging.narrows",
    "messaging.snippets",
    "messaging.reading",
    "messaging.public_pages",
    "messaging.sending",
    "messaging.link_previews",
    "messaging.pins",
    "messaging.editing",
    "messaging.reactions",
    "messaging.widgets",
    "messaging.flags",
    "messaging.reports",
    "messaging.drafts",
    "messaging.typing_notices",
    "messaging.scheduled",
    "messaging.reminders",
    "messaging.erasure",
    "notifications.mail_in",
    "notifications.push",
    "notifications.missed_mail",
    "notifications.deciding",
    "notifications.account_mails",
    "notifications.weekly_mail",
    "integrations.incoming",
    "integrations.outgoing",
    "integrations.scim",
    "archives.exports",
    "server.probes",
)


def _declared_by(package: str) -> Feature:
    feature = import_module(f"tertulia.{package}.feature").FEATURE
    assert isinstance(feature, Feature)
    return feature


FEATURES = (GROUND, *map(_declared_by, _PACKAGES))
