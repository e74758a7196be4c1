"""The audit log: who did what to whom, by which session or key, from where, and what was before and after.

Administrative acts and those of security have an entry, written in the transaction of the change (kernel/audit.py); sending
and reading messages have none. Which endpoint writes which entry is said in tests/features/tables/audit_table.py.

Invariants:
- An entry is never changed, and deleted only when it is older than the organization keeps entries: the database refuses the
  rest, whoever asks (first_release/audit.sql).
- Entries hold ids. What names a person stands in `audit_detail`, and goes when the person is erased.
- No password, key, token or code is ever handed to `note`. Only owners read the log.
"""

from tertulia.organization.audit_log.acts import Act
from tertulia.organization.audit_log.noting import Change, Proved, Word, channel, differences, group, note, realm, user

__all__ = ["Act", "Change", "Proved", "Word", "channel", "differences", "group", "note", "realm", "user"]
