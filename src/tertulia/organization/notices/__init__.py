"""What the notification bot has to say.

A change that gives the bot a reason to speak writes its words into `notice` in its own transaction, so that both exist or
neither does. Right after the commit, before the reply, they are sent as messages and taken off the list in one
transaction (messaging/sending/notices.py); what is too much for a request, or left behind by a crash, the worker sends.
So no change waits for the locks of the conversations its notices go to, and each notice is sent exactly once.
"""

from tertulia.organization.notices.actions import may_tell, tell
from tertulia.organization.notices.model import Notice

__all__ = ["Notice", "may_tell", "tell"]
