"""What the notification bot tells whoever asked for an export."""

from tertulia.archives.exports.model import KEEP_DAYS, Job
from tertulia.archives.exports.words import Words, words_of
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import language_of


async def tell_ready(tx: Transaction, job: Job, size: int, messages: int) -> None:
    """It can be fetched."""
    words = await _words(tx, job)
    said = words.count(words.messages, messages)
    await _tell(tx, job, words.ready[job.whose].format(messages=said, size=f"{size / 1e6:,.1f}", days=KEEP_DAYS))


async def tell_failed(tx: Transaction, job: Job, reason: str) -> None:
    """There will be none."""
    await _tell(tx, job, (await _words(tx, job)).failed[job.whose].format(reason=reason))


async def _words(tx: Transaction, job: Job) -> Words:
    return words_of(await language_of(tx, job.user_id))


async def _tell(tx: Transaction, job: Job, text: str) -> None:
    await tell(tx, job.realm_id, [Notice((text,), user_id=job.user_id)])
