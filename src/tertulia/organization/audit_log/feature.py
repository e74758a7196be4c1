"""What the audit log brings to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.organization.audit_log import bounds, routes
from tertulia.organization.audit_log.actions import forget_old_entries

FEATURE = Feature(name="audit_log", routes=(routes,), chores=(housekeeping(forget_old_entries),), bounds=bounds.ALL)
