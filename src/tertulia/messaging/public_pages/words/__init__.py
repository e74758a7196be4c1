"""What public pages say besides what is written in them."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    public_channels: str
    about_index: str
    about_channel: str
    no_channels: str
    no_topics: str
    missing: str
    skip: str
    path: str
    pages: str
    older_topics: str
    newest_topics: str
    previous: str
    next: str
    take_part: str
    feed: str
    link_to: str
    feed_of: str


words_of = reader_of(__name__, Words)
