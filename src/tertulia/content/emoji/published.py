"""The table of names as it is published: a file that never changes under its name, and so may be cached for ever."""

import functools
import hashlib
import json

from tertulia.content.emoji.table import code_to_names

PREFIX = "/static/emoji/"


@functools.cache
def table_file() -> tuple[str, bytes]:
    """The path of the file, and its text."""
    text = json.dumps({"code_to_names": dict(code_to_names())}, ensure_ascii=False, separators=(",", ":")).encode()
    return f"{PREFIX}{hashlib.sha256(text).hexdigest()[:16]}.json", text
