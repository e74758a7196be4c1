"""How many alert words somebody may have."""

from tertulia.kernel.bounds import Bound

ALERT_WORDS = Bound(
    name="alert_words",
    what="alert words, with those of one's bots",
    of="person",
    limit=1000,
    tables=("alert_word",),
    refusal="There are too many alert words (limit: {limit}).",
    counted="alert_word where user_id in (select id from account where id = $1 or bot_owner_id = $1)",
)

ALL = (ALERT_WORDS,)
