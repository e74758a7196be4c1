"""Words that everybody knows who knows the organization: a password made of one is soon guessed.

docs/how-to/logins.md lists them: the name of this software, the host, the organization's name, subdomain and domains, and what
the operator adds. The person's own name and address come on top, from whoever asks.
"""

from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import names_of

PRODUCT = "Tertulia"


async def words_of(reader: Reader, realm_id: int, settings: Settings) -> tuple[str, ...]:
    """The words for the passwords of an organization."""
    added = (word.strip() for word in settings.password_words.split(","))
    return (PRODUCT, settings.external_host, *added, *await names_of(reader, realm_id))
