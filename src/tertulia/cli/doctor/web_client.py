"""Whether this package brings the web client, which is built before the wheel is."""

from tertulia.cli.doctor import Advice
from tertulia.kernel.settings import Settings


def look_at_web_client(_settings: Settings) -> str:
    """Without it people see a page that says so."""
    from tertulia.content.webclient.files import FOLDER, INDEX

    if not (FOLDER / INDEX).is_file():
        raise Advice("this package has none: people see no more than a plain page. Build it (bin/web), then the wheel")
    return "built"
