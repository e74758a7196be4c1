"""How many drafts somebody may have."""

from tertulia.kernel.bounds import MAX_ANSWER_BYTES, Bound

DRAFTS = Bound(
    name="drafts",
    what="drafts",
    of="person",
    limit=1000,
    tables=("draft",),
    refusal="You have {limit} drafts already: delete some of them.",
    counted="draft where user_id = $1",
)
DRAFT_BYTES = Bound(
    name="draft_bytes",
    what="bytes of drafts",
    of="person",
    limit=MAX_ANSWER_BYTES,
    tables=("draft",),
    refusal="Your drafts are too long together (limit: {limit} bytes): delete some of them.",
    counted="draft where user_id = $1",
    weight="octet_length(content)",
)

ALL = (DRAFTS, DRAFT_BYTES)
