"""Endpoints with many alike parameters: one for each entry of a table, instead of a list of them in the signature."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec

Function = TypeVar("Function", bound=Callable[..., object])


def extra_parameters(hints: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Give a function one optional parameter for each name, in place of its last one, `**chosen`.

    The signature is what an endpoint is made of, and listing seventy settings once more would be no better.
    """

    def declare(function: Function) -> Function:
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        chosen = [inspect.Parameter(name, keyword, default=None, annotation=hint) for name, hint in hints.items()]
        function.__signature__ = signature.replace(parameters=[*own, *chosen])  # type: ignore[attr-defined]
        function.__annotations__ |= hints
        return function

    return declare


def only_kept(hints: Mapping[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """The same parameters, of which these are described as having no effect here."""
    said = {
        name: Annotated[hints[name], msgspec.Meta(description=f"Kept for other clients, without effect here. {reason}")]
        for name, reason in reasons.items()
    }
    return {**hints, **said}
