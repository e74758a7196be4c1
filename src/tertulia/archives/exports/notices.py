"""What the notification bot tells whoever asked for an export."""

from tertulia.archives.exports.model import KEEP_DAYS, Job
from tertulia.content.markup.writing import Text
from tertulia.kernel.db import Transaction
from tertulia.organization.notices import Notice, tell


async def tell_ready(tx: Transaction, job: Job, size: int, messages: int) -> None:
    """It can be fetched."""
    where = "your personal settings" if job.scope == "mine" else "the settings of the organization"
    size_text = f"{messages:,} messages, {size / 1e6:,.1f} MB"
    how = f"Download it in {where}, under “{_page(job)}”. It will be deleted after {KEEP_DAYS} days."
    await _tell(tx, job, (f"{_subject(job)} is ready: {size_text}. {how}",))


async def tell_failed(tx: Transaction, job: Job, reason: str) -> None:
    """There will be none."""
    await _tell(tx, job, (f"{_subject(job)} could not be made: {reason}",))


def _subject(job: Job) -> str:
    return "The copy of your data" if job.scope == "mine" else "The export of the organization that you asked for"


def _page(job: Job) -> str:
    return "Your data" if job.scope == "mine" else "Exports"


async def _tell(tx: Transaction, job: Job, text: Text) -> None:
    await tell(tx, job.realm_id, [Notice(text, user_id=job.user_id)])
