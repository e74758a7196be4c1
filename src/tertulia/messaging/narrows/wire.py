"""What clients see of searching."""

KEYS = {
    "stop_words": list[str],
}
