"""How far a text may go before it stays plain, so that nothing it says makes the server work out of proportion."""

from typing import Final

# A quote or spoiler is one level, a list with its item two. What would be nested deeper stays text.
MAX_LEVEL: Final = 20

# The empty cells that short rows under long headers may add in one text; a table that needs more stays text.
MAX_FILLED_CELLS: Final = 2000

# Code beyond this length in one message is shown without colours.
MAX_HIGHLIGHTED: Final = 20_000

# Processor time that colouring the code of one message may take. A full message of ordinary code needs a quarter of it.
# How much of it somebody may use in a minute: messaging/sending/rendering_time.py.
MAX_HIGHLIGHTING_SECONDS: Final = 0.2

# More links with previews than this: none has one.
MAX_PREVIEWS: Final = 24

# Of so many links of a message, the first ones, there are previews.
MAX_PAGES: Final = 3

# The HTML may have so many bytes: a message of nothing but emoji just fits, and with everything else an event of it fits
# several times into what the log takes in one piece (8 MiB; the relay and `tertulia doctor` say so if it takes less).
MAX_HTML_BYTES: Final = 1_200_000

# The same of a description: everybody gets those of all channels, with each registration.
MAX_DESCRIPTION_HTML: Final = 16_000
