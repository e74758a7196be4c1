"""Well-known places where people have accounts, so that a field can link to them (facts, no code)."""

CUSTOM = "custom"
USERNAME = "%(username)s"

EXTERNAL_ACCOUNTS = {
    "github": {
        "name": "GitHub username",
        "text": "GitHub",
        "hint": "",
        "url_pattern": "https://github.com/%(username)s",
    },
    "gitlab": {
        "name": "GitLab username",
        "text": "GitLab",
        "hint": "",
        "url_pattern": "https://gitlab.com/%(username)s",
    },
    "codeberg": {
        "name": "Codeberg username",
        "text": "Codeberg",
        "hint": "",
        "url_pattern": "https://codeberg.org/%(username)s",
    },
    "twitter": {
        "name": "X username",
        "text": "X (formerly Twitter)",
        "hint": "Without the @ sign.",
        "url_pattern": "https://x.com/%(username)s",
    },
}
"""By their subtype. Existing clients know `github` and `twitter` by these words."""
