"""Endpoints of linkifiers."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Administrator, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, patch, post
from tertulia.organization.linkifiers import actions, queries
from tertulia.organization.linkifiers.model import LinkifierRecord
from tertulia.organization.linkifiers.rules import MAX_ALTERNATIVES, MAX_TEMPLATE_LENGTH, as_format

Alternatives = Annotated[list[str], msgspec.Meta(max_length=MAX_ALTERNATIVES)]
Example = Annotated[str, msgspec.Meta(max_length=MAX_TEMPLATE_LENGTH)]


class Linkifiers(msgspec.Struct):
    """The answer of GET /realm/linkifiers."""

    linkifiers: list[LinkifierRecord]


class Filters(msgspec.Struct):
    """The answer of GET /realm/filters: pattern, address, ID."""

    filters: list[tuple[str, str, int]]


class Added(msgspec.Struct):
    """The answer of POST /realm/filters."""

    id: int


@get("/realm/linkifiers")
async def get_linkifiers(caller: Person, reader: Reader) -> Linkifiers:
    """The organization's linkifiers, in the order in which they are tried."""
    return Linkifiers(await queries.linkifiers_of(reader, caller.realm_id))


@get("/realm/filters")
async def get_filters(caller: Person, reader: Reader) -> Filters:
    """The linkifiers in the form that older clients know, as far as that form can express them: `%(name)s` in the address."""
    found = [(one, as_format(one.url_template)) for one in await queries.linkifiers_of(reader, caller.realm_id)]
    return Filters([(one.pattern, form, one.id) for one, form in found if form is not None])


@post("/realm/filters")
async def add_linkifier(
    caller: Administrator,
    tx: Transaction,
    *,
    pattern: str,
    url_template: str,
    example_input: Example | None = None,
    reverse_template: Example | None = None,
    alternative_url_templates: Alternatives | None = None,
) -> Added:
    """Add a linkifier: what matches the pattern becomes a link in messages.

    The pattern's named groups are the variables of the URL template (RFC 6570).
    """
    alternatives = alternative_url_templates or []
    new = LinkifierRecord(0, pattern.strip(), url_template.strip(), example_input, reverse_template, alternatives)
    return Added(await actions.add(tx, caller, new))


@patch("/realm/filters/{filter_id}")
async def change_linkifier(
    caller: Administrator,
    tx: Transaction,
    *,
    filter_id: int,
    pattern: str | None = None,
    url_template: str | None = None,
    example_input: Example | None = None,
    reverse_template: Example | None = None,
    alternative_url_templates: Alternatives | None = None,
) -> None:
    """Change a linkifier. Messages that were sent stay as they are."""
    wanted = {
        "pattern": None if pattern is None else pattern.strip(),
        "url_template": None if url_template is None else url_template.strip(),
        "example_input": example_input,
        "reverse_template": reverse_template,
        "alternative_url_templates": alternative_url_templates,
    }
    await actions.change(tx, caller, filter_id, {name: value for name, value in wanted.items() if value is not None})


@delete("/realm/filters/{filter_id}")
async def remove_linkifier(caller: Administrator, tx: Transaction, *, filter_id: int) -> None:
    """Remove a linkifier."""
    await actions.remove(tx, caller, filter_id)


@patch("/realm/linkifiers")
async def order_linkifiers(
    caller: Administrator,
    tx: Transaction,
    *,
    ordered_linkifier_ids: Annotated[list[int], msgspec.Meta(max_length=10_000)],
) -> None:
    """Say in which order linkifiers are tried: all of them, by their IDs."""
    await actions.order(tx, caller, ordered_linkifier_ids)
