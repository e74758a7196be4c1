"""The site of the docs, made by Sphinx out of the pages as they are in the repository: `bin/docs`.

Whatever a page links must be there, or the build ends. Three things are said differently here than in the repository:
the menu, which is made of the folders; folders, which a site does not show; and anchors inside the text, which Sphinx does not
know (tests/rules/test_docs.py looks whether they are there).
"""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

project = "Tertulia"
author = "The Tertulia developers"
copyright = author
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["docs/**.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "web/e2e/README.md"]
exclude_patterns = ["**/node_modules", ".*", "build"]
nitpicky = True
myst_heading_anchors = 6
html_theme = "furo"
html_title = f"Tertulia {release}"
html_show_sphinx = False
html_copy_source = False
suppress_warnings = ["misc.highlighting_failure"]  # a dialect of SQL that the highlighter does not know

# By hand where the order matters: a page that is in none of them ends the build.
MENU = (
    ("Learn", [f"docs/{page}" for page in (
        "tutorial/first-steps", "how-to/try-it", "how-to/format-a-message", "how-to/pictures", "how-to/phones",
        "how-to/write-a-bot",
    )]),
    ("Run it", [f"docs/how-to/{page}" for page in (
        "run-on-one-machine", "run-in-containers", "run-everything-in-one", "operate", "backup", "export", "import",
        "import-from-slack", "import-from-zulip", "import-from-mattermost", "import-from-rocketchat", "import-from-discord",
        "move", "erase", "upgrade", "logins",
        "files", "public-pages", "mail-in", "scim", "audit-log", "high-availability",
    )]),
    ("Look up", ["docs/reference/*", "docs/reference/protocol/README", "docs/reference/protocol/*"]),
    ("Understand and develop", ["docs/explanation/*", "docs/how-to/add-a-feature"]),
    ("Decisions", ["docs/decisions/README", "docs/decisions/0*"]),
    ("The project", ["README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "web/e2e/README"]),
)  # fmt: skip
_LINK = re.compile(r"\[([^\]\[]+)\]\(([^)\s#]*)(#[^)\s]+)?\)")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", read_page)


def read_page(_app: Any, name: str, text: list[str]) -> None:
    """A page on its way from the repository to the site."""
    page = ROOT / f"{name}.md"
    text[0] = _LINK.sub(lambda link: _linked(page, link), text[0])
    if name == root_doc:
        text[0] += "".join(_menu(title, pages) for title, pages in MENU)


def _linked(page: Path, link: re.Match[str]) -> str:
    label, target, anchor = link[1], link[2], link[3] or ""
    if ":" in target:
        return link[0]
    file = (page.parent / target).resolve() if target else page
    if file.is_dir():
        return label
    if anchor and file.suffix == ".md" and f'<a id="{anchor[1:]}"></a>' in file.read_text(encoding="utf-8"):
        return f'<a href="{target.removesuffix(".md")}{".html" if target else ""}{anchor}">{label}</a>'
    return link[0]


def _menu(title: str, pages: list[str]) -> str:
    lines = "\n".join(f"/{page}" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {title}\n\n{lines}\n```\n"
