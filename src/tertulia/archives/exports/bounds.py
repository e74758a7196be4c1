"""How many exports may be asked for. Each costs the server as much as reading everything, and a room in the store for a week."""

from tertulia.kernel.bounds import Bound

OF_REALM = Bound(
    name="exports",
    what="exports of the organization that were asked for within a week",
    of="organization",
    limit=5,
    tables=("export_job",),
    refusal="Your organization has asked for {limit} exports within a week, and that is as many as it may. Try again later.",
    counted="export_job where realm_id = $1 and scope <> 'mine' and asked > now() - interval '7 days'",
)
OF_PERSON = Bound(
    name="own_exports",
    what="exports of what is their own that somebody asked for within a day",
    of="person",
    limit=1,
    tables=("export_job",),
    refusal="You have asked for your data within the last day. Try again tomorrow.",
    counted="export_job where user_id = $1 and scope = 'mine' and asked > now() - interval '1 day'",
)

ALL = (OF_REALM, OF_PERSON)
