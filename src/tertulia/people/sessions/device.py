"""What a person recognizes a browser by (pure): its name and its system, out of what it says of itself."""

_BROWSERS = (
    ("Tertulia", "Tertulia"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
"""Each says that it is those below it as well, so the order matters."""
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
MAX_AGENT = 300


def device_of(agent: str) -> str:
    """Such as `Firefox, Linux`; empty if nothing is recognized."""
    found = (next((name for mark, name in marks if mark in agent), "") for marks in (_BROWSERS, _SYSTEMS))
    return ", ".join(part for part in found if part)
