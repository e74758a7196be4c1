"""How many reminders somebody may have waiting."""

from tertulia.kernel.bounds import MAX_ANSWER_BYTES, Bound

REMINDERS = Bound(
    name="reminders",
    what="reminders",
    of="person",
    limit=1000,
    tables=("reminder",),
    refusal="You have {limit} reminders already: delete some of them.",
    counted="reminder where user_id = $1",
)
REMINDER_BYTES = Bound(
    name="reminder_bytes",
    what="bytes of notes of reminders, with their HTML",
    of="person",
    limit=MAX_ANSWER_BYTES // 2,
    tables=("reminder",),
    refusal="The notes of your reminders are too long together (limit: {limit} bytes): delete some of them.",
    counted="reminder where user_id = $1",
    weight="octet_length(note) + octet_length(rendered_note)",
)

ALL = (REMINDERS, REMINDER_BYTES)
