"""Which texts are mail addresses (pure): one rule for who may have one, and for whom a mail is written to.

Only what means the same to everybody on a mail's way is an address: what another reader of it, such as the header of a mail,
takes apart otherwise would be at a domain by our word, and somewhere else by theirs. So no quotes, lists, comments or groups,
nothing that stands for other characters (`=?utf-8?q?...?=`), and no routes, which mail servers follow
(`mallory%example.org@`, `example.org!mallory@`); also not by letters that are a wide form of such signs.
"""

import re

from tertulia.kernel.text import bad_character, normalized

MAX_ADDRESS = 254
# U+212A, the sign for Kelvin, is an ordinary k in lower case: an address with it would be found to be somebody else's.
_OTHER = r"[^\x00-\x7f\s\u212a]"
_NAME = rf"(?:[A-Za-z0-9.#$&'*+/=?^_`{{|}}~-]|{_OTHER}){{1,64}}"
_LABEL = rf"(?:[A-Za-z0-9_-]|{_OTHER})+"
_ADDRESS = re.compile(rf"(?!.*=\?){_NAME}@(?=.{{1,189}}\Z){_LABEL}(?:\.{_LABEL})*")


def is_address(text: str) -> bool:
    """Whether the text is an address. A colon would break Basic authentication, too."""
    return (
        len(text) <= MAX_ADDRESS
        and _ADDRESS.fullmatch(text) is not None
        and bad_character(text) is None
        and _ADDRESS.fullmatch(normalized("NFKC", text)[:MAX_ADDRESS]) is not None
    )
