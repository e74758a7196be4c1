"""What comes out of the renderer beside the HTML, which the corpus holds."""

import time

from hypothesis import given
from hypothesis import strategies as st

from tertulia.content.markup import (
    Channel,
    Context,
    Linkifier,
    MentionableGroup,
    MentionablePerson,
    TopicLink,
    alert_key,
    alert_keys,
    find_alert_words,
    find_widget,
    render,
    render_description,
    topic_links,
    wanted,
)

ADA = MentionablePerson(31, "Ada Byron")
CREW = MentionableGroup(17, "crew")


def test_nothing_is_wanted_for_plain_text() -> None:
    assert not wanted("Good morning, everybody. 10 am?")


def test_wanted_names_what_a_text_could_refer_to() -> None:
    names = wanted(
        "@**Ada Byron** @_**Bo|7** @**all** @*crew* #**dev** #**ops>Disk full** #**ops>a@5** :smile:"
        " [x](/user_uploads/2/ab/x.png)."
    )
    assert names.person_names == {"ada byron"}
    assert names.person_ids == {7}
    assert names.group_names == {"crew"}
    assert names.channel_names == {"dev", "ops"}
    assert names.topics == {("ops", "disk full")}
    assert names.emoji_names == {"smile"}
    assert names.upload_paths == {"2/ab/x.png"}


def test_mentions_that_notify_are_told_apart_from_silent_ones() -> None:
    context = Context(people=(ADA, MentionablePerson(32, "Bo", is_active=False)), groups=(CREW,))
    loud = render("@**Ada Byron** @*crew* @**all** @**topic** @**Bo**", context)
    assert loud.mentioned_user_ids == {31}
    assert loud.mentioned_group_ids == {17}
    assert (loud.mentions_channel, loud.mentions_topic) == (True, True)
    for quiet in ("@_**Ada Byron** @_*crew* @_**all** @_**topic**", "> @**Ada Byron** @*crew* @**all** @**topic**"):
        silent = render(quiet, context)
        assert not silent.mentioned_user_ids | silent.mentioned_group_ids
        assert not silent.mentions_channel
        assert not silent.mentions_topic


def test_an_old_text_means_whoever_has_the_id_by_the_name_of_then() -> None:
    text = "@**Ada King|31** @_**Ada King|31** @**Nobody|99** @**Ada King**"
    now = render(text, Context(people=(ADA,)))
    assert not now.mentioned_user_ids
    assert "user-mention" not in now.html
    then = render(text, Context(people=(ADA,), is_old=True))
    assert then.mentioned_user_ids == {31}
    assert then.html.count('data-user-id="31">@Ada King</span>') == 1
    assert then.html.count('data-user-id="31">Ada King</span>') == 1
    assert then.html.count("user-mention") == 2


def test_links_of_every_kind_count_as_links() -> None:
    context = Context(channels=(Channel(9, "dev"),), linkifiers=(Linkifier(r"T(?P<id>\d+)", "https://t.example/{id}"),))
    for text in ("https://a.example", "[a](https://a.example)", "#**dev**", "T12", "me@a.example.org"):
        assert render(text, context).has_link, text
    assert not render("no link, `https://a.example`", context).has_link


def test_a_description_mentions_nobody_and_shows_no_picture() -> None:
    html = render_description("@**Ada Byron** https://a.example/x.png", Context(people=(ADA,)))
    assert html == '<p>@<strong>Ada Byron</strong> <a href="https://a.example/x.png">https://a.example/x.png</a></p>'
    assert render_description(" ") == ""


def test_links_in_topics_come_by_position() -> None:
    linkifiers = (Linkifier(r"T(?P<id>\d+)", "https://t.example/{id}"),)
    assert topic_links("a.example.org and T12, https://b.example/T13", linkifiers) == (
        TopicLink("a.example.org", "https://a.example.org"),
        TopicLink("T12", "https://t.example/12"),
        TopicLink("https://b.example/T13", "https://b.example/T13"),
    )


def test_polls_and_lists_start_with_what_their_text_says() -> None:
    poll = find_widget("/poll Lunch?\n- soup\n\n* salad")
    assert poll is not None
    assert poll.as_json() == ('{"widget_type":"poll","extra_data":{"question":"Lunch?","options":["soup","salad"]}}')
    todo = find_widget("/todo Move\npack: books first\nclean")
    assert todo is not None
    assert todo.extra_data == {
        "task_list_title": "Move",
        "tasks": [{"task": "pack", "desc": "books first"}, {"task": "clean", "desc": ""}],
    }
    assert find_widget("/polling is fun") is None
    assert find_widget("say /poll x") is None


@given(st.text(alphabet="ab C.,(>[*'\" \n", max_size=40), st.text(alphabet="ab c.(>", min_size=1, max_size=6))
def test_no_alert_word_is_missed_by_its_key(content: str, word: str) -> None:
    word = word.strip().lower()
    if find_alert_words(content, [word]):
        assert alert_key(word) in alert_keys(content)


def test_alert_words_are_whole_words_in_any_case_and_in_code() -> None:
    words = ["lunch", "c++ rules", "at", "äpfel"]
    assert find_alert_words("LUNCH? `c++ rules`, ÄPFEL that", words) == {"lunch", "c++ rules", "äpfel"}
    assert find_alert_words("lunches, brunch-lunch", words) == frozenset()


def test_alert_words_that_are_found_to_be_others_at_their_end_cost_little() -> None:
    words = [f"{'a' * before}b{'a' * after}" for before in range(33, 99) for after in range(1, 99 - before)][:1000]
    began = time.process_time()
    assert find_alert_words(f"{'a' * 9_000}b{'a' * 200} {words[7]}", words) == {words[7]}
    assert time.process_time() - began < 0.1
