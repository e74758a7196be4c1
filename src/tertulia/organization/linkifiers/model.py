"""Linkifiers as the API shows them."""

import msgspec


class LinkifierRecord(msgspec.Struct, frozen=True):
    """A pattern and what it becomes."""

    id: int
    pattern: str
    url_template: str
    example_input: str | None
    reverse_template: str | None
    alternative_url_templates: list[str]
