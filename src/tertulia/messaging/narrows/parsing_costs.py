"""What finding the words of a text may cost PostgreSQL (pure).

From each sign its parser reads on as far as an address, a path or a compound might go, and goes back if there is none. So signs
with no blank between them cost by the square of their number: 10,000 characters take up to ten seconds (docs/decisions/0183).
"""

import re

MOST_STEPS = 100_000
"""Some hundredths of a second at worst. Texts that take more steps by this count may still be quick: most long paths are."""
_RUN = re.compile(r'[^\s<>"]{30,}')
_SIGN = re.compile(r"(\W|_)(?!\1)")


def may_be_dear(text: str) -> bool:
    """Whether the parser may go back often: from each sign, at worst, it reads to the next blank."""
    if len(text) ** 2 <= MOST_STEPS:
        return False
    return sum(len(run) * len(_SIGN.findall(run)) for run in _RUN.findall(text)) > MOST_STEPS
