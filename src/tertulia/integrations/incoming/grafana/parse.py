"""Alerts of Grafana 9 and later; before, one rule at a time."""

import msgspec

from tertulia.integrations.incoming.alerts import post_of
from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.refusals import UnsupportedEvent, read
from tertulia.integrations.incoming.wording import line, link, listing, name

EVENTS = ("firing", "resolved", "alerting", "ok", "no_data", "paused", "pending")
_WORDS = {
    "alerting": ":fire: is alerting",
    "ok": ":check: is well again",
    "no_data": ":question: has no data",
    "paused": "is paused",
    "pending": "is pending",
}


class Match(msgspec.Struct):
    """A value that made an old rule fire."""

    metric: str = ""
    value: float | None = None


class Rule(msgspec.Struct, rename="camel"):
    """What older versions post (legacy alerting)."""

    rule_name: str
    state: str
    rule_url: str | None = None
    message: str | None = None
    eval_matches: list[Match] | None = None


def parse(delivery: Delivery) -> Post:
    """One message for a group of alerts, or for a rule."""
    if isinstance(delivery.payload, dict) and "alerts" not in delivery.payload:
        return _rule(read(delivery.payload, Rule))
    return post_of(delivery.payload, EVENTS)


def _rule(rule: Rule) -> Post:
    if rule.state not in _WORDS:
        raise UnsupportedEvent(rule.state)
    values = listing(rule.eval_matches or [], lambda match: f"{line(match.metric, 60)}: {match.value}")
    message = f"\n{line(rule.message)}" if rule.message else ""
    opened = link("open", rule.rule_url)
    return Post(rule.state, rule.rule_name, f"{name(rule.rule_name)} {_WORDS[rule.state]} ({opened}){message}{values}")
