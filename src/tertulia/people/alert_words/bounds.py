"""How many alert words somebody may have."""

from tertulia.kernel.bounds import OF_PERSON, Bound

ALERT_WORDS = Bound(
    name="alert_words",
    what="alert words, with those of one's bots",
    of="person",
    limit=1000,
    tables=("alert_word",),
    refusal="There are too many alert words (limit: {limit}).",
    counted=f"alert_word where {OF_PERSON}",
)

ALL = (ALERT_WORDS,)
