"""How a request parameter is read: by its annotation, strictly, with the first fault in words."""

import time
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Raw

from tertulia.kernel.errors import Refusal
from tertulia.kernel.faults import say_fault
from tertulia.kernel.params import (
    AnyLength,
    NoSuchId,
    Unread,
    Verbatim,
    Wire,
    alias,
    compile_param,
    decode_json,
    fit_path,
    read_params,
)
from tertulia.kernel.urlencoded import UnfitText


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Draft(msgspec.Struct, forbid_unknown_fields=True):
    to: list[int]
    content: Annotated[str, Meta(max_length=5)]


class Loose(msgspec.Struct):
    new: int | None = None


def read(annotation: Any, value: str | bytes, default: Any = ...) -> Any:
    param = compile_param("v", annotation) if default is ... else compile_param("v", annotation, default)
    into: dict[str, Any] = {}
    read_params((param,), {"v": Raw(value) if isinstance(value, bytes) else value}, into)
    return into["v"]


def refusal(annotation: Any, value: str | bytes) -> str:
    with pytest.raises(Refusal) as caught:
        read(annotation, value)
    assert (caught.value.status, caught.value.code, caught.value.extra) == (400, "BAD_REQUEST", {})
    return caught.value.msg


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (str, "", ""),
        (str, "null", "null"),
        (str, '"quoted"', '"quoted"'),
        (str, " spaces stay ", " spaces stay "),
        (Literal["direct", "channel"], "direct", "direct"),
        (Colour, "red", Colour.RED),
        (Annotated[str, Meta(max_length=3)], "abc", "abc"),
        (int, "5", 5),
        (int, "-9223372036854775808", -(2**63)),
        (bool, "true", True),
        (bool, "false", False),
        (float, "1.5", 1.5),
        (float, "2", 2.0),
        (list[int], "[1, 2]", [1, 2]),
        (list[str], '["a"]', ["a"]),
        (dict[str, Any], '{"a": [1]}', {"a": [1]}),
        (int | str, '"a"', "a"),
        (int | str, "5", 5),
        (Literal[1, 2], "2", 2),
        (Loose, '{"new": 3, "surplus": []}', Loose(3)),
        (list[Draft], '[{"to":[9],"content":"hi"}]', [Draft([9], "hi")]),
        (str | None, "x", "x"),
        (list[int] | None, "[]", []),
    ],
)
def test_a_text_becomes_the_annotated_value(annotation: Any, text: str, value: object) -> None:
    got = read(annotation, text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("annotation", "text", "msg"),
    [
        (int, "", "v is not valid JSON"),
        (int, "abc", "v is not valid JSON"),
        (int, "5 5", "v is not valid JSON"),
        (int, "5.0", "v is not an integer"),
        (int, '"5"', "v is not an integer"),
        (int, "true", "v is not an integer"),
        (int, "9223372036854775808", "v holds a number that is too large"),
        (int, "1" * 5000, "v holds a number that is too large"),
        (list[int], "[1,-9223372036854775809]", "v holds a number that is too large"),
        (Any, "1e999", "v is too large"),
        (bool, "True", "v is not valid JSON"),
        (bool, "yes", "v is not valid JSON"),
        (bool, "", "v is not valid JSON"),
        (bool, "1", "v is not a boolean"),
        (bool, '"true"', "v is not a boolean"),
        (float, '"1"', "v is not a number"),
        (list[int], "3", "v is not a list"),
        (list[int], '[1,"2"]', "v[1] is not an integer"),
        (list[int], "[1,null]", "v[1] is not an integer"),
        (dict[str, int], "[]", "v is not an object"),
        (dict[str, int], '{"a":"b"}', "v is not an integer"),
        (int | list[str], "[5]", "v[0] is not a string"),
        (int | list[str], "{}", "v is not an integer or a list"),
        (Literal["direct", "channel"], "x", "v is not one of: direct, channel"),
        (Colour, "x", "v is not one of: red, blue"),
        (Literal[1, 2], "3", "v is not one of: 1, 2"),
        (list[Literal["a"]], '["b"]', "v[0] is not an allowed value"),
        (Annotated[int, Meta(ge=0)], "-1", "v is too small (minimum: 0)"),
        (Annotated[int, Meta(le=9)], "10", "v is too large (maximum: 9)"),
        (Annotated[str, Meta(min_length=1)], "", "v cannot be blank"),
        (Annotated[str, Meta(max_length=60)], "x" * 61, "v is too long (limit: 60 characters)"),
        (Annotated[str, Meta(min_length=2)], "x", "v is too short (minimum: 2 characters)"),
        (Annotated[str, Meta(pattern="^#")], "x", "v does not have the expected format"),
        (Annotated[list[int], Meta(max_length=1)], "[1,2]", "v is too long (limit: 1 items)"),
        (Annotated[list[int], Meta(min_length=1)], "[]", "v cannot be empty"),
        (list[Draft], '[{"content":"x"}]', 'v[0]["to"] is missing'),
        (list[Draft], '[{"to":[],"content":"x","k":1}]', 'v[0]["k"] is not a known field'),
        (list[Draft], '[{"to":["a"],"content":"x"}]', 'v[0]["to"][0] is not an integer'),
        (list[Draft], '[{"to":[],"content":"xxxxxx"}]', 'v[0]["content"] is too long (limit: 5 characters)'),
        (list[str], '["a\\u0000b"]', "v holds a NUL character"),
        (dict[str, Any], '{"a\\u0000b": 1}', "v holds a NUL character"),
        (list[str], '["\\ud800"]', "v is not valid JSON"),
        (str, "x" * 20_001, "v is too long (limit: 20000 characters)"),
        (Literal["a"], "x" * 20_001, "v is too long (limit: 20000 characters)"),
        (list[str], f'["a", "{"x" * 20_001}"]', "v is too long (limit: 20000 characters)"),
        (list[str], '["' + 'a\\"' * 10_001 + '"]', "v is too long (limit: 20000 characters)"),
        (list[str], '["' + "\\\\" * 20_001 + '"]', "v is too long (limit: 20000 characters)"),
        (dict[str, Any], f'{{"{"x" * 20_001}": 1}}', "v is too long (limit: 20000 characters)"),
        (Any, "[" * 33 + "]" * 33, "v is nested too deeply (limit: 32 levels)"),
        (list[int], "[" * 100_000, "v is nested too deeply (limit: 32 levels)"),
        (Loose, '{"x":' * 100_000, "v is nested too deeply (limit: 32 levels)"),
    ],
)
def test_a_faulty_text_is_refused_in_words(annotation: Any, text: str, msg: str) -> None:
    assert refusal(annotation, text) == msg


def test_a_text_may_be_as_long_as_any_that_people_write_or_as_it_says_itself() -> None:
    longest = "x" * 20_000
    assert read(str, longest) == longest
    assert read(list[str], f'["{longest}", "{longest}"]') == [longest, longest]
    assert read(dict[str, list[int]], '{"a": [' + "1, " * 20_000 + '1], "b": []}')["b"] == []
    assert read(Annotated[str, AnyLength()], longest + "x") == longest + "x"
    assert read(Annotated[list[str], AnyLength()], f'["{longest}x"]') == [longest + "x"]


def test_brackets_inside_strings_are_not_nesting_and_escaped_backslashes_are_not_nul() -> None:
    assert read(list[str], '["' + "[" * 99 + '", "\\""]') == ["[" * 99, '"']
    assert read(list[str], '["\\\\u0000"]') == ["\\u0000"]


def test_a_digit_string_may_be_longer_than_any_integer() -> None:
    assert read(list[str], '["12345678901234567890123"]') == ["12345678901234567890123"]


def test_a_missing_parameter_is_refused_and_an_optional_one_gets_its_default() -> None:
    into: dict[str, Any] = {}
    with pytest.raises(Refusal, match="content is missing"):
        read_params((compile_param("content", str),), {}, into)
    read_params((compile_param("limit", int, 20), compile_param("topic", str | None, None)), {}, into)
    assert into == {"limit": 20, "topic": None}


def test_null_means_absent_for_json_parameters() -> None:
    assert read(list[str] | None, "null", None) is None
    assert read(int, "null", 7) == 7
    assert refusal(int, "null") == "v is missing"


def test_parameters_are_checked_in_the_order_of_declaration() -> None:
    params = (compile_param("b", int), compile_param("a", int))
    with pytest.raises(Refusal, match="b is not valid JSON"):
        read_params(params, {"a": "x", "b": "y"}, {})


@pytest.mark.parametrize(
    ("annotation", "body", "value"),
    [(str, b'"text"', "text"), (int, b"5", 5), (list[int], b"[1]", [1]), (Colour, b'"red"', Colour.RED)],
)
def test_a_value_of_a_json_body_needs_no_second_encoding(annotation: Any, body: bytes, value: object) -> None:
    assert read(annotation, body) == value
    assert read(annotation | None, b"null", None) is None


@pytest.mark.parametrize(
    ("annotation", "body", "msg"),
    [
        (str, b"5", "v is not a string"),
        (str, b'"a\\u0000"', "v holds a NUL character"),
        (int, b'"5"', "v is not an integer"),
        (Annotated[str, Meta(max_length=1)], b'"aa"', "v is too long (limit: 1 characters)"),
        (list[int], b'"[1]"', "v is not a list"),
        (int, b"99999999999999999999", "v holds a number that is too large"),
    ],
)
def test_a_faulty_value_of_a_json_body_is_refused(annotation: Any, body: bytes, msg: str) -> None:
    assert refusal(annotation, body) == msg


def parse_shade(value: Any) -> int:
    if value in (1, "one"):
        return 1
    raise ValueError("is not a shade")


Shade = Annotated[int, Wire(parse=parse_shade, schema={"enum": ["one", 1]})]


def test_an_own_parser_sees_the_raw_text_or_the_decoded_value() -> None:
    assert read(Shade, "one") == 1
    assert read(Shade, b"1") == 1
    assert read(Shade | None, b"null", None) is None
    assert refusal(Shade, "two") == "v is not a shade"
    assert refusal(Shade, b'["one"]') == "v is not a shade"


def test_an_own_parser_may_decode_by_itself() -> None:
    ids = Annotated[list[int], Wire(parse=lambda sent: msgspec.convert(decode_json(sent), list[int]), schema={})]
    assert read(ids, "[1]") == [1]
    assert refusal(ids, '["a"]') == "v[0] is not an integer"
    assert refusal(ids, "[") == "v is not valid JSON"
    assert refusal(ids, "[" * 9999) == "v is nested too deeply (limit: 32 levels)"
    assert refusal(ids, "[9223372036854775808]") == "v holds a number that is too large"


def test_an_id_that_no_column_holds_is_refused_as_its_mark_says() -> None:
    def refuse(value: object) -> Refusal | None:
        return Refusal("unknown", code="NOT_THERE", id=value) if isinstance(value, int) else None

    marked = Annotated[int, NoSuchId(refuse)]
    for sent in ("9223372036854775808", b"9223372036854775808"):
        with pytest.raises(Refusal) as caught:
            read(marked, sent)
        assert (caught.value.code, caught.value.extra) == ("NOT_THERE", {"id": 2**63})
    assert read(marked, "9223372036854775807") == 2**63 - 1
    assert refusal(marked, "[9223372036854775808]") == "v holds a number that is too large"
    assert refusal(marked, "1" * 5000) == "v holds a number that is too large"


def test_a_parser_of_its_own_may_take_numbers_of_any_size() -> None:
    wide = Annotated[
        int, Wire(lambda sent: sent if isinstance(sent, int) else decode_json(sent, any_size=True), {}, True)
    ]
    for sent in ("9223372036854775808", b"9223372036854775808"):
        assert read(wide, sent) == 2**63


def test_an_id_in_a_path_that_no_column_holds_is_the_nearest_one() -> None:
    args: dict[str, Any] = {"low": -(10**30), "high": 2**63, "fits": 7, "text": "x"}
    fit_path(args, {})
    assert args == {"low": -(2**63), "high": 2**63 - 1, "fits": 7, "text": "x"}
    with pytest.raises(Refusal, match="unknown"):
        fit_path({"id": 2**63}, {"id": NoSuchId(lambda _: Refusal("unknown"))})


def test_an_alias_is_a_second_name_and_both_together_are_confusing() -> None:
    param = compile_param("topic", str | None, alias("subject"))
    into: dict[str, Any] = {}
    read_params((param,), {"subject": "lunch"}, into)
    assert into == {"topic": "lunch"}
    read_params((param,), {}, into)
    assert into == {"topic": None}
    with pytest.raises(Refusal) as caught:
        read_params((param,), {"subject": "a", "topic": "a"}, into)
    assert caught.value.code == "REQUEST_CONFUSING_VAR"
    assert caught.value.extra == {"var_name1": "topic", "var_name2": "subject"}


def test_an_alias_can_be_required() -> None:
    param = compile_param("topic", str, alias("subject", required=True))
    with pytest.raises(Refusal, match="topic is missing"):
        read_params((param,), {}, {})


storable = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | storable,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(storable, inner, max_size=6),
    max_leaves=25,  # forms matter here, not sizes: larger values take longer to make up than all else
)


@given(st.lists(json_values, min_size=1, max_size=6))
def test_whatever_json_we_can_keep_arrives_unchanged(value: list[Any]) -> None:
    text = msgspec.json.encode(value)
    assert read(Any, text.decode()) == value
    assert read(Any, text) == value


@given(st.text())
def test_no_text_makes_the_reader_fail_in_another_way_than_refusing(text: str) -> None:
    with suppress(Refusal):
        read(list[Draft], text, None)


NUL = UnfitText("holds a NUL character", "a\0b")
NO_TEXT = UnfitText("is not valid UTF-8")


def test_a_text_that_cannot_be_kept_is_refused_by_name() -> None:
    for unfit in (NUL, NO_TEXT):
        for annotation in (str, int, list[int], Literal["a"], Annotated[Any, Wire(str, {})]):
            with pytest.raises(Refusal, match=f"v {unfit.fault}"):
                read_params((compile_param("v", annotation),), {"v": unfit}, {})


def test_a_verbatim_text_may_hold_nul_but_must_be_text() -> None:
    param = compile_param("v", Annotated[str, Verbatim(), Meta(max_length=3)] | None, None)
    for sent in (NUL, Raw(b'"a\\u0000b"')):
        into: dict[str, Any] = {}
        read_params((param,), {"v": sent}, into)
        assert into == {"v": "a\0b"}
    with pytest.raises(Refusal, match="v is not valid UTF-8"):
        read_params((param,), {"v": NO_TEXT}, {})


@pytest.mark.parametrize("sent", ["x", "[", NUL, NO_TEXT, Raw(b"{}")])
def test_a_parameter_is_refused_only_when_it_is_read(sent: Any) -> None:
    into: dict[str, Any] = {}
    read_params((compile_param("v", Unread[list[int]]),), {"v": sent}, into)
    assert into["v"].is_sent
    with pytest.raises(Refusal, match="BAD_REQUEST: v "):
        into["v"].read()


@pytest.mark.parametrize("sent", [{}, {"v": Raw(b"null")}, {"v": "null"}])
def test_a_parameter_that_was_not_sent_reads_as_none(sent: Any) -> None:
    into: dict[str, Any] = {}
    read_params((compile_param("v", Unread[list[int]]),), sent, into)
    assert into["v"].read() is None


def test_a_fault_that_quotes_all_that_was_sent_is_said_at_once() -> None:
    began = time.thread_time()
    fault = "Invalid enum value '" + " - at `$" * 60_000 + "'"
    assert say_fault("type", fault, Literal["direct", "channel"]) == "type is not one of: direct, channel"
    assert say_fault("type", f"{fault} - at `$[0].kind`", Any) == 'type[0]["kind"] is not an allowed value'
    assert time.thread_time() - began < 1
