"""What a linkifier can be (pure)."""

import re
from collections.abc import Iterable

from tertulia.content.markup.linkifiers import check_pattern, fit_together, group_names
from tertulia.content.markup.templates import is_template, variables
from tertulia.kernel.errors import Refusal
from tertulia.organization.linkifiers.model import LinkifierRecord

MAX_PATTERN_LENGTH = 500
MAX_TEMPLATE_LENGTH = 1000
MAX_ALTERNATIVES = 20
_PLAIN = re.compile(r"\{([A-Za-z0-9_]+)\}")


def check_linkifier(linkifier: LinkifierRecord) -> None:
    """Refuse patterns that cannot be run, and templates that do not go with their pattern."""
    if not linkifier.pattern or len(linkifier.pattern) > MAX_PATTERN_LENGTH:
        raise Refusal(f"A pattern has 1 to {MAX_PATTERN_LENGTH} characters.")
    if fault := check_pattern(linkifier.pattern):
        raise Refusal(f"Bad regular expression: {fault}")
    groups = group_names(linkifier.pattern)
    templates = [linkifier.url_template, *linkifier.alternative_url_templates]
    if len(templates) > MAX_ALTERNATIVES:
        raise Refusal(f"A linkifier has at most {MAX_ALTERNATIVES} templates.")
    for template in templates:
        if not template or len(template) > MAX_TEMPLATE_LENGTH or not is_template(template):
            raise Refusal("Invalid URL template.")
        if missing := groups - variables(template):
            raise Refusal(f"The group '{min(missing)}' of the pattern is not in the URL template.")
        if unknown := variables(template) - groups:
            raise Refusal(f"The URL template uses '{min(unknown)}', which is no group of the pattern.")


def check_together(linkifiers: Iterable[LinkifierRecord]) -> None:
    """Refuse more than can be looked for in every text at once."""
    if not fit_together([one.pattern for one in linkifiers]):
        raise Refusal("The patterns of the organization's linkifiers are too large together.")


def as_format(template: str) -> str | None:
    """A template in the older form, `%(name)s` for each variable; None if it has more to say."""
    form = _PLAIN.sub(r"%(\1)s", template.replace("%", "%%"))
    return None if "{" in form else form
