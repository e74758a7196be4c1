"""What bounds the audit log."""

from tertulia.kernel.bounds import Otherwise

ALL = (
    Otherwise(
        tables=("audit_entry", "audit_detail"),
        because="one for each administrative act and each login; the rates of those, and what the organization keeps",
    ),
)
