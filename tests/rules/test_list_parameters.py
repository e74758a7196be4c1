"""Every list or object in a request has a bound of its own (docs/reference/advisories.md, DS-16)."""

import typing
from typing import Any

import msgspec
import pytest

from tertulia.kernel.endpoint import Endpoint
from tertulia.kernel.params import Param
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES

OWN_PARSERS = {
    "narrow": "messaging/narrows/terms.py: MAX_TERMS",
    "to": "messaging/sending/rules.py: MAX_RECIPIENTS",
}
"""Parameters whose own parser holds the bound."""
MANY = [(each, param) for each in endpoints_of(FEATURES) for param in each.params if "list[" in str(param.annotation)]
MANY += [(each, param) for each in endpoints_of(FEATURES) for param in each.params if "dict[" in str(param.annotation)]


@pytest.mark.parametrize(("endpoint", "param"), MANY, ids=lambda one: getattr(one, "path", None) or one.name)
def test_ds_16_a_list_of_a_request_has_a_bound(endpoint: Endpoint, param: Param) -> None:
    if param.wire is not None:
        assert param.name in OWN_PARSERS, endpoint.path
        return
    assert all(is_bounded(one) for one in alternatives(param.annotation)), (
        f"{endpoint.path} {param.name}: Meta(max_length=...)"
    )


def alternatives(annotation: Any) -> list[Any]:
    """The types of a union, with what is said of each of them."""
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *marks = typing.get_args(annotation)
        if any(isinstance(mark, msgspec.Meta) for mark in marks) or not typing.get_origin(inner):
            return [annotation]
        return alternatives(inner)
    if type(None) in typing.get_args(annotation) or typing.get_origin(annotation) is typing.Union:
        return [found for one in typing.get_args(annotation) for found in alternatives(one)]
    return [annotation]


def is_bounded(annotation: Any) -> bool:
    if typing.get_origin(annotation) in (list, dict):
        return False
    metas = [mark for mark in typing.get_args(annotation)[1:] if isinstance(mark, msgspec.Meta)]
    holds_many = "list[" in str(annotation) or "dict[" in str(annotation)
    return not holds_many or any(meta.max_length is not None for meta in metas)
