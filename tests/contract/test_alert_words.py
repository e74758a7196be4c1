"""Alert words (protocol/people.md#alert-words)."""

import pytest

from tests.harness.talk import Speaker, check_error

PATH = "users/me/alert_words"


@pytest.mark.holds("alert-words.list")
def test_words_are_added_listed_and_removed(newcomer: Speaker) -> None:
    assert newcomer.get(PATH) == {"result": "success", "msg": "", "alert_words": []}
    assert newcomer.post(PATH, alert_words=["tea", "Lisbon"])["alert_words"] == ["Lisbon", "tea"]
    assert newcomer.get(PATH)["alert_words"] == ["Lisbon", "tea"]
    assert newcomer.delete(PATH, alert_words=["LISBON", "unknown"])["alert_words"] == ["tea"]
    assert newcomer.get(PATH)["alert_words"] == ["tea"]


@pytest.mark.holds("alert-words.list")
def test_space_and_case_make_no_difference(newcomer: Speaker, member: Speaker) -> None:
    assert newcomer.post(PATH, alert_words=["  Tea ", "tea", "", "   "])["alert_words"] == ["Tea"]
    assert newcomer.post(PATH, alert_words=["TEA", "é", "É"])["alert_words"] == ["Tea", "é"]
    assert "Tea" not in member.get(PATH)["alert_words"]


@pytest.mark.holds("alert-words.limits")
def test_a_word_has_a_hundred_characters_at_most(newcomer: Speaker) -> None:
    assert newcomer.post(PATH, alert_words=[" " + "é" * 100])["alert_words"] == ["é" * 100]
    assert "alert_words[1]" in check_error(newcomer.request("POST", PATH, alert_words=["ok", "x" * 101]))
    assert newcomer.get(PATH)["alert_words"] == ["é" * 100]


@pytest.mark.holds("alert-words.form")
@pytest.mark.parametrize("words", [None, "tea", [1], {"tea": 1}, ["a\0b"]])
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_words_are_a_list_of_texts(newcomer: Speaker, method: str, words: object) -> None:
    assert "alert_words" in check_error(newcomer.request(method, PATH, alert_words=words))


@pytest.mark.holds("alert-words.limits")
def test_there_is_an_end_to_it(newcomer: Speaker) -> None:
    newcomer.post(PATH, alert_words=[f"word {number}" for number in range(1000)])
    check_error(newcomer.request("POST", PATH, alert_words=["one more"]))
    assert len(newcomer.get(PATH)["alert_words"]) == 1000
