"""Pictures that are elsewhere, in the HTML of messages."""

import pytest

from tertulia.content.markup import Context, Fetched, render, render_description
from tertulia.content.markup.previews import has_previews
from tertulia.content.markup.remote import made_private, signed, with_remote
from tertulia.content.markup.sanitizer import sanitized
from tests.rules.markup_corpus import cases
from tests.rules.markup_page import read

CONTEXT = Context(realm_id=7, realm_url="https://chat.example", picture_key="a key")
CAT = "https://a.example/cat.png?a=1&b=2"
HREF = "https://a.example/cat.png?a=1&amp;b=2"
READY = Fetched("/external_content/7/x/840x560.webp", "image/png", 1200, 800)


def test_every_source_in_the_corpus_is_ours() -> None:
    sources = [
        attribute
        for case in cases()
        for html in (render(case.content, case.context).html, render_description(case.content, case.context))
        for part in read(html)
        for attribute in part[1:]
        if attribute.startswith("src=")
    ]
    assert len(sources) > 20
    assert [source for source in sources if not source.startswith(("src=/", "src=user_uploads/"))] == []


@pytest.mark.parametrize(
    "text",
    ["![s](https://a.example/s.mp3)", "![s](//a.example/s.mp3)", "![s](/\\a.example/s.mp3)", "https://a.example/film.webm",
     "![p](https://a.example/p.png)", "[f](https://a.example/f.mov)"],
)  # fmt: skip
def test_sounds_and_films_from_elsewhere_are_links(text: str) -> None:
    for html in (render(text, CONTEXT).html, render_description(text, CONTEXT)):
        assert not {"audio", "video"} & {part[0] for part in read(html)}
        assert "a.example" in html


@pytest.mark.parametrize(
    "source", ["https://a.example/x", "//a.example/x", "/\\a.example/x", "/\t/a.example/x", "x.png"]
)
def test_the_last_gate_takes_a_source_from_elsewhere_away(source: str) -> None:
    assert "src" not in sanitized(f'<p><img alt="x" src="{source}"></p>')


def test_an_address_is_the_same_for_the_same_picture_and_another_with_another_key() -> None:
    one, again, other = (
        render(text, context).remote
        for text, context in (
            (CAT, CONTEXT),
            (f"see {CAT} twice", CONTEXT),
            (CAT, Context(realm_id=7, picture_key="b")),
        )
    )
    assert one == again == (signed("a key", CAT),)
    assert one != other
    assert "<img" not in render(CAT, Context(realm_id=7)).html
    assert "<img" not in render("https://a.example/" + "x" * 2000 + ".png", CONTEXT).html


@pytest.mark.parametrize("text", [CAT, f"see {CAT}", f"[cat]({CAT})", f"- {CAT}", f"before\n\n{CAT}\n\nafter"])
def test_a_picture_that_came_is_shown_with_its_size(text: str) -> None:
    rendered = render(text, CONTEXT)
    [picture] = rendered.remote
    html = with_remote(rendered.html, {picture.signature: READY})
    assert 'data-original-dimensions="1200x800" src="/external_content/7/x/840x560.webp"' in html
    assert "placeholder" not in html
    assert html.count(f'href="{HREF}"') == rendered.html.count(f'href="{HREF}"')
    read(html)
    assert with_remote(rendered.html, {}) == rendered.html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (CAT, f'<p><a href="{HREF}">{HREF}</a></p>'),
        (f"see {CAT}", f'<p>see <a href="{HREF}">{HREF}</a></p>'),
        (f"[cat]({CAT})", f'<p><a href="{HREF}">cat</a></p>'),
        (f'[cat]({CAT} "title")', f'<p><a href="{HREF}" title="title">cat</a></p>'),
        (f"a\n\n{CAT}\n\nb", f'<p>a</p>\n<p><a href="{HREF}">{HREF}</a></p>\n<p>b</p>'),
        (f"- {CAT}", f'<ul>\n<li><p><a href="{HREF}">{HREF}</a></p></li>\n</ul>'),
        (
            "https://youtu.be/abc-DEF_123",
            '<p><a href="https://youtu.be/abc-DEF_123">https://youtu.be/abc-DEF_123</a></p>',
        ),
    ],
)
def test_a_picture_that_cannot_be_had_is_the_link_alone(text: str, html: str) -> None:
    rendered = render(text, CONTEXT)
    gone = with_remote(rendered.html, {rendered.remote[0].signature: Fetched()})
    assert gone == html
    assert not has_previews(gone)


OLD = {
    CAT: f'<div class="message_inline_image"><a href="{HREF}"><img src="{HREF}"></a></div>',
    f"[cat]({CAT})": (
        f'<p><a href="{HREF}">cat</a></p>\n'
        f'<div class="message_inline_image"><a href="{HREF}" title="cat"><img src="{HREF}"></a></div>'
    ),
    "https://youtu.be/abc-DEF_123": (
        '<p><a href="https://youtu.be/abc-DEF_123">https://youtu.be/abc-DEF_123</a></p>\n<div class="youtube-video '
        'message_inline_image"><a data-id="abc-DEF_123" href="https://youtu.be/abc-DEF_123">'
        '<img src="https://i.ytimg.com/vi/abc-DEF_123/mqdefault.jpg"></a></div>'
    ),
    "https://a.example/clip.mp4": (
        '<div class="message_inline_image message_inline_video"><a href="https://a.example/clip.mp4">'
        '<video preload="metadata" src="https://a.example/clip.mp4"></video></a></div>'
    ),
    "[c](https://a.example/clip.mp4)": (
        '<p><a href="https://a.example/clip.mp4">c</a></p>\n<div class="message_inline_image message_inline_video">'
        '<a href="https://a.example/clip.mp4" title="c"><video preload="metadata" src="https://a.example/clip.mp4"></video>'
        "</a></div>"
    ),
    "![song](https://a.example/x.mp3)": (
        '<p><audio controls="" preload="metadata" src="https://a.example/x.mp3" title="song"></audio></p>'
    ),
    "![](//a.example/x.mp3)": '<p><audio controls="" preload="metadata" src="//a.example/x.mp3" title=""></audio></p>',
    'no `src="https://x"` at all': '<p>no <code>src="https://x"</code> at all</p>',
}
"""HTML as this server wrote it before, by its text."""


@pytest.mark.parametrize("text", OLD)
def test_old_html_becomes_what_the_text_is_rendered_to_now(text: str) -> None:
    html, pictures = made_private(OLD[text], CONTEXT.realm_id, CONTEXT.picture_key)
    now = render(text, CONTEXT)
    assert (html, tuple(pictures)) == (now.html, now.remote)
    assert made_private(html, CONTEXT.realm_id, CONTEXT.picture_key) == (html, [])


def test_an_old_picture_with_an_endless_address_becomes_a_link() -> None:
    url = "https://a.example/" + "x" * 2000 + ".png"
    old = f'<div class="message_inline_image"><a href="{url}"><img src="{url}"></a></div>'
    html, pictures = made_private(old, 7, "a key")
    assert (html, pictures) == (f'<div class="message_inline_image"><a href="{url}">{url}</a></div>', [])
