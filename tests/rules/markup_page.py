"""A reader for tests: what is in a piece of HTML, and whether anything in it is dangerous."""

from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from tertulia.content.markup.schemes import SCHEMES

ALONE = {"br", "hr", "img"}
# Which attributes each tag may have, written down here once more: a slip in the sanitizer's list must not hide itself.
ALLOWED: dict[str, set[str]] = {
    **{
        tag: set()
        for tag in ("p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ul", "li", "blockquote", "pre", "code")
    },
    **{tag: set() for tag in ("em", "strong", "del", "table", "thead", "tbody", "tr", "semantics", "mrow", "mtext")},
    "a": {"class", "data-id", "data-stream-id", "href", "title"},
    "annotation": {"encoding"},
    "audio": {"controls", "preload", "src", "title"},
    "div": {"aria-hidden", "class", "data-code-language"},
    "img": {"alt", "class", "data-animated", "data-original-content-type", "data-original-dimensions"}
    | {"data-transcoded-image", "src", "title"},
    "math": {"xmlns"},
    "ol": {"start"},
    "span": {"aria-hidden", "aria-label", "class", "data-user-group-id", "data-user-id", "role", "title"},
    "td": {"style"},
    "th": {"style"},
    "time": {"datetime"},
    "video": {"preload", "src"},
}
STYLES = {f"text-align: {side};" for side in ("left", "center", "right")}

Part = tuple[str, ...]


class Reader(HTMLParser):
    """Collects the parts of a page and checks each; texts that follow each other are one."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Part] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert not (tag == "a" and "a" in self.open), "a link inside a link"
        for name, value in attrs:
            assert name in ALLOWED[tag], f"{tag} {name}"
            check_value(name, value or "")
        self.parts.append((tag, *(f"{name}={value or ''}" for name, value in attrs)))
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"nothing to close with {tag}"
        assert self.open.pop() == tag
        self.parts.append((f"/{tag}",))

    def handle_data(self, data: str) -> None:
        if self.parts and self.parts[-1][0] == "text":
            self.parts[-1] = ("text", self.parts[-1][1] + data)
        else:
            self.parts.append(("text", data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("a declaration")

    def handle_pi(self, data: str) -> None:
        raise AssertionError("an instruction")


def check_value(name: str, value: str) -> None:
    if name in ("href", "src"):
        assert value == value.strip()
        assert not any(ord(character) < 33 for character in value), value
        scheme = urlsplit(value).scheme if not value.startswith(("/", "#")) else ""
        assert scheme == "" or scheme in SCHEMES, value
    if name == "src":
        # A browser loads it by itself, and so must tell nobody elsewhere that somebody reads.
        ours = urljoin("https://ours.example/", value.replace("\\", "/"))
        assert urlsplit(ours).netloc == "ours.example", value
        assert not urlsplit(value).scheme, value
    if name == "style":
        assert value in STYLES


def read(html: str) -> list[Part]:
    """The parts of a page, which must be a safe one."""
    return Reader(html).parts
