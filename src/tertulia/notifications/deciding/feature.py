"""What deciding whom messages concern brings to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.services import MadeHook
from tertulia.kernel.settings import Settings
from tertulia.messaging.editing.actions import MentionEffect
from tertulia.messaging.sending.storing import SideEffect
from tertulia.notifications.deciding import bounds
from tertulia.notifications.deciding.actions import DueRecorder, EditRecorder
from tertulia.notifications.deciding.steps import Deciding

WAITING = """
(select coalesce(edited_at, sent_at) as due from push_due join message on message.id = push_due.message_id) as undecided
"""

FEATURE = Feature(
    name="deciding",
    hooks={
        SideEffect: (MadeHook(lambda services: DueRecorder(services[Settings])),),
        MentionEffect: (MadeHook(lambda services: EditRecorder(services[Settings])),),
    },
    chores=(
        Chore("concerns", 0.5, lambda services: Deciding(services[Database], services[Settings]).decide_due, WAITING),
    ),
    bounds=bounds.ALL,
)
