"""The schemes of addresses that may be linked to."""

# fmt: off
SCHEMES = frozenset([
    "http", "https", "ftp", "mid", "mailto", "tel", "sms", "smsto", "ssh", "sip", "irc", "ircs", "xmpp", "matrix", "magnet",
    "news", "nntp", "geo", "im", "mms", "urn", "webcal", "wtai", "bitcoin", "openpgp4fpr",
    "hansoft", "obsidian", "zotero", "asanadesktop",
])
# fmt: on
