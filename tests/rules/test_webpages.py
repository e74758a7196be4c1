"""What pages say of themselves, and that reading them costs little, whatever they are."""

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.content.markup.embeds import NO_PICTURE, Embed, carried_over, embeds_in, with_embeds, without_embeds
from tertulia.content.markup.previews import has_previews
from tertulia.content.webpages import MAX_DESCRIPTION, MAX_TITLE, PageFacts, read_page

URL = "https://a.example/path/page"


def read(page: str, kind: str = "text/html; charset=utf-8") -> PageFacts | None:
    return read_page(page.encode(), kind, URL)


@pytest.mark.parametrize(
    ("page", "facts"),
    [
        ("<title>Plain</title>", PageFacts("Plain")),
        ("<TITLE lang=de>\n A \n B </TITLE >", PageFacts("A B")),
        ("<title>T</title><meta content=' What ' name=Description>", PageFacts("T", "What")),
        ("<title>T</title><meta property=og:title content='O &amp; P'><meta name=twitter:title content=W>", PageFacts("O & P")),
        ("<meta name=twitter:title content=W><meta property=og:title content=' '>", PageFacts("W")),
        ("<!-- <title>no</title> --><script>'<title>no</title>'</script><title>yes</title>", PageFacts("yes")),
        ("<svg><title>no</title></svg><title>yes</title>", PageFacts("yes")),
        ("<title>T</title><meta property='og:image' content='../x.png?a&amp;b'>",
         PageFacts("T", "", "https://a.example/x.png?a&b")),
        ("<title>T</title><meta property='og:image' content='//b.example/x.png'>", PageFacts("T", "", "https://b.example/x.png")),
        *((f"<title>T</title><meta property='og:image' content='{bad}'>", PageFacts("T"))
          for bad in ("javascript:x", "data:image/png,x", "file:///x", "http://[x/", "http://a b/", "http://", "")),
        ("<title>T\u202egnp.exe\x00\u200b</title>", PageFacts("T gnp.exe")),
        ("<head><title></title></head><body><title>late</title>", None),
        ("<title>never ends", None),
        ("<p>nothing", None),
        ("", None),
    ],
)  # fmt: skip
def test_what_a_page_says_of_itself(page: str, facts: PageFacts | None) -> None:
    assert read(page) == facts


def test_texts_have_a_length() -> None:
    found = read(f"<title>{'t' * 999}</title><meta name=description content='{'d ' * 999}'>")
    assert found is not None
    assert (len(found.title), found.title[-1], len(found.description) <= MAX_DESCRIPTION) == (MAX_TITLE, "…", True)


def test_letters_are_read_as_the_page_says() -> None:
    for encoding, kind in (("utf-8", "text/html"), ("windows-1251", "text/html; charset=windows-1251")):
        assert read_page("<title>Привет</title>".encode(encoding), kind, URL) == PageFacts("Привет")
    said_inside = '<meta charset="shift_jis"><title>日本</title>'.encode("shift_jis")
    assert read_page(said_inside, "text/html", URL) == PageFacts("日本")
    # Names of codecs that are no encodings of text mean nothing.
    for name in ("zlib", "punycode", "rot13", "unicode_escape", "no-such"):
        assert read_page(b"<title>x\\x41</title>", f"text/html; charset={name}", URL) == PageFacts("x\\x41")


@pytest.mark.parametrize(
    "part",
    ["<", "<!--", "<meta ", "<meta a", "<meta content='", '<meta content="', "<meta a=", "<script>", "<title>", "<meta>", " ",
     "<meta " + "a " * 50, "&amp;", "<svg><title>", "</script", "<meta x=" + " " * 30],
)  # fmt: skip
def test_no_page_is_slow_to_read(part: str) -> None:
    page = ("<title>" if part == "&amp;" else "") + part * (512 * 1024 // len(part))
    began = time.process_time()
    read(page)
    assert time.process_time() - began < 0.5


@given(st.text(max_size=300), st.sampled_from(["", "<title>", "<meta content=", "<meta property=og:title content='"]))
def test_whatever_a_page_is_reading_it_ends_well(text: str, before: str) -> None:
    found = read(before + text)
    assert found is None or (found.title and len(found.title) <= MAX_TITLE and "\n" not in found.title)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses |= {value or "" for name, value in attrs if name == "href"}


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_a_page_says_is_text_below_the_message(title: str, description: str) -> None:
    link = f'<p><a href="{URL}">{URL}</a></p>'
    for hostile in ("", '"><script>x</script>', "</div></div></div>", "message_inline_image", '" onload="x'):
        html = with_embeds(link, [Embed(URL, hostile + title, description + hostile)])
        parser = _Tags()
        parser.feed(html)
        assert parser.tags == ["p", "a", "div", "a", "div", "div", "a", "div"]
        assert parser.addresses == {URL}
        assert without_embeds(html) == link
        assert not has_previews(html)


def test_previews_stand_in_the_order_of_the_links_and_go_with_them() -> None:
    one, two, three = (f"https://a.example/{name}?a&b" for name in ("one", "two", "three"))
    links = {url: f'<a href="{url.replace("&", "&amp;")}">x</a>' for url in (one, two, three)}
    text = f"<p>{links[one]} {links[two]}</p>"
    html = with_embeds(text, [Embed(two, "Two")])
    html = with_embeds(html, [Embed(one, "One", "", "/external_content/1/ab/840x560.webp"), Embed(three, "Three")])
    assert list(embeds_in(html)) == [one, two]
    assert (html.count(NO_PICTURE), html.count("/external_content/1/ab/840x560.webp")) == (1, 1)
    assert with_embeds(html, [Embed(two, "Again")]).count("message_embed_title") == 2
    assert list(embeds_in(without_embeds(html, [one]))) == [two]
    other = f"<p>{links[two]}, not {links[one]}</p>"
    assert list(embeds_in(carried_over(other, embeds_in(html)))) == [two, one]
    assert carried_over("<p>x</p>", embeds_in(html)) == "<p>x</p>"
