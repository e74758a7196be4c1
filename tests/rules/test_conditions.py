"""Headers of requests about the form of the answer."""

import pytest

from tertulia.kernel.conditions import accepted_encoding, entity_tags, has_entity


@pytest.mark.parametrize("header", ["gzip", "deflate, GZIP;q=0.5", "*", "br, x-gzip"])
def test_gzip_is_accepted(header: str) -> None:
    assert accepted_encoding(header, ["gzip"]) == "gzip"


@pytest.mark.parametrize("header", [None, "", "identity", "gzip;q=0", "br", "gzip; q=0.0"])
def test_gzip_is_not_accepted(header: str | None) -> None:
    assert accepted_encoding(header, ["gzip"]) is None


def test_entity_tags_may_be_weak_and_many() -> None:
    assert entity_tags('W/"a", "b"') == ['"a"', '"b"']
    assert entity_tags(None) == [""]


def test_the_first_encoding_that_is_allowed_counts() -> None:
    assert accepted_encoding("gzip, br", ["br", "gzip"]) == "br"
    assert accepted_encoding("*, br;q=0", ["br", "gzip"]) == "gzip"
    assert accepted_encoding("gzip, br", []) is None


@pytest.mark.parametrize(("header", "is_there"), [(None, False), ('"b"', False), ('"b", W/"a"', True), ("*", True)])
def test_what_a_client_has_already(header: str | None, is_there: bool) -> None:
    assert has_entity(header, '"a"') is is_there
