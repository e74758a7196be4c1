"""The inventory of cryptography (docs/reference/cryptography.md): every module that uses any is in it, and is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tertulia"
PAGE = ROOT / "docs" / "reference" / "cryptography.md"
USES = re.compile(
    r"\bhashlib\.\w+\(|\bhmac\.\w+\(|\bsecrets\.\w+\(|\bssl\.create_default_context|\bPasswordHasher\("
    r"|^\s*(?:from|import) (?:cryptography|joserfc|authlib|Crypto|pyrage|webauthn)\b",
    re.MULTILINE,
)


def test_every_module_that_uses_cryptography_is_in_the_inventory() -> None:
    using = {str(module.relative_to(SOURCE)) for module in SOURCE.rglob("*.py") if USES.search(module.read_text())}
    named = set(re.findall(r"`(?!tests/)([a-z_/]+\.py)`", PAGE.read_text()))
    assert using - named == set(), "add them to docs/reference/cryptography.md: what for, and how"
    assert named - using == set(), "these use none"
