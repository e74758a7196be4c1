"""Random identifiers: API keys and what is stored of them."""

import hashlib
import secrets
import string

KEY_LENGTH = 32
_ALPHABET = string.ascii_letters + string.digits


def new_api_key() -> str:
    """32 letters and digits (190 bits): the form existing clients insist on."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(KEY_LENGTH))


def is_api_key(text: str) -> bool:
    """Whether the text has the form of an API key."""
    return len(text) == KEY_LENGTH and text.isascii() and text.isalnum()


def digest_of_key(key: str) -> bytes:
    """What is stored of a key. It is random, so a fast digest is enough: nothing can be guessed from it."""
    return hashlib.sha256(key.encode()).digest()
