"""How many snippets somebody may save."""

from tertulia.kernel.bounds import MAX_ANSWER_BYTES, Bound

SNIPPETS = Bound(
    name="saved_snippets",
    what="saved snippets",
    of="person",
    limit=500,
    tables=("saved_snippet",),
    refusal="You have {limit} saved snippets already: delete some of them.",
    counted="saved_snippet where user_id = $1",
)
SNIPPET_BYTES = Bound(
    name="saved_snippet_bytes",
    what="bytes of saved snippets",
    of="person",
    limit=MAX_ANSWER_BYTES // 2,
    tables=("saved_snippet",),
    refusal="Your saved snippets are too long together (limit: {limit} bytes): delete some of them.",
    counted="saved_snippet where user_id = $1",
    weight="octet_length(title) + octet_length(content)",
)

ALL = (SNIPPETS, SNIPPET_BYTES)
