"""What an internal integration of Sentry posts (the header says of what), and its older plugin without that header."""

from typing import Any

import msgspec

from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.refusals import UnsupportedEvent, anomalous, read
from tertulia.integrations.incoming.wording import code, line, link, name, quote

EVENTS = ("issue", "event_alert", "error", "metric_alert", "comment", "installation", "plugin")
_ISSUE_WORDS = {
    "created": ":bug: New issue",
    "resolved": ":check: Resolved",
    "assigned": "Assigned",
    "archived": "Archived",
    "ignored": "Archived",
    "unresolved": "Open again",
}


class Named(msgspec.Struct):
    """A person, a team or a project."""

    name: str | None = None
    slug: str | None = None


class Issue(msgspec.Struct, rename="camel"):
    """An issue: errors that are alike."""

    title: str
    short_id: str | None = None
    culprit: str | None = None
    level: str | None = None
    permalink: str | None = None
    web_url: str | None = msgspec.field(default=None, name="web_url")
    project: Named | None = None
    assigned_to: Named | None = None


class Event(msgspec.Struct):
    """One error."""

    title: str
    web_url: str | None = None
    culprit: str | None = None
    level: str | None = None
    environment: str | None = None


class Rule(msgspec.Struct):
    """The rule of a metric alert."""

    name: str


class Metric(msgspec.Struct):
    """A metric alert."""

    alert_rule: Rule


class Data(msgspec.Struct):
    """What it is about; which of them is there, the header says."""

    issue: Any = None
    event: Any = None
    error: Any = None
    metric_alert: Any = None
    triggered_rule: str | None = None
    description_title: str | None = None
    description_text: str | None = None
    web_url: str | None = None
    comment: str | None = None
    project_slug: str | None = None


class Payload(msgspec.Struct):
    """What is posted."""

    data: Data
    action: str = ""
    actor: Named | None = None


class Plugin(msgspec.Struct):
    """What the older plugin posts."""

    url: str
    event: Event
    project_name: str | None = None
    project: str | None = None


def parse(delivery: Delivery) -> Post:
    """One message for each thing that happened."""
    resource = delivery.headers.get("sentry-hook-resource")
    if not resource:
        plugin = read(delivery.payload, Plugin)
        topic = plugin.project_name or plugin.project or "Sentry"
        return Post("plugin", topic, _error(plugin.event, plugin.url, "New event"))
    payload = read(delivery.payload, Payload)
    match resource:
        case "issue":
            return _issue(read(payload.data.issue, Issue), payload.action, payload.actor)
        case "event_alert":
            event = read(payload.data.event, Event)
            rule = f"Alert {name(payload.data.triggered_rule)}" if payload.data.triggered_rule else "Alert"
            return Post("event_alert", event.title, _error(event, event.web_url, f":bell: {rule}"))
        case "error":
            event = read(payload.data.error, Event)
            return Post("error", event.title, _error(event, event.web_url, ":bug: Error"))
        case "metric_alert":
            return _metric(payload)
        case "comment":
            who = name((payload.actor and payload.actor.name) or "")
            said = f"{who} commented ({line(payload.action, 20)}).{quote(payload.data.comment)}"
            return Post("comment", payload.data.project_slug or "Sentry", said)
        case "installation":
            return Post("installation", "Sentry", f"The Sentry integration says: {line(payload.action, 40)}.")
    raise UnsupportedEvent(resource)


def _issue(issue: Issue, action: str, actor: Named | None) -> Post:
    if action not in _ISSUE_WORDS:
        raise UnsupportedEvent(f"issue.{action}")
    opened = link(
        issue.short_id if issue.short_id and issue.short_id.replace("-", "").isalnum() else "open",
        issue.web_url or issue.permalink,
    )
    by = f" by {name(actor.name)}" if action != "created" and actor and actor.name else ""
    to = (
        f" to {name(issue.assigned_to.name)}"
        if action == "assigned" and issue.assigned_to and issue.assigned_to.name
        else ""
    )
    where = f"\n{code(issue.culprit)}" if issue.culprit else ""
    return Post("issue", issue.title, f"{_ISSUE_WORDS[action]}{to}{by} ({opened}): {line(issue.title)}{where}")


def _error(event: Event, url: str | None, heading: str) -> str:
    facts = [code(fact) for fact in (event.level, event.environment, event.culprit) if fact]
    return f"{heading} ({link('open', url)}): {line(event.title)}" + (f"\n{' '.join(facts)}" if facts else "")


def _metric(payload: Payload) -> Post:
    rule = read(payload.data.metric_alert, Metric).alert_rule
    if payload.action not in ("critical", "warning", "resolved"):
        raise anomalous()
    sign = ":check:" if payload.action == "resolved" else ":fire:"
    title = line(payload.data.description_title or rule.name)
    said = f"{sign} {title} ({link('open', payload.data.web_url)}){quote(payload.data.description_text)}"
    return Post("metric_alert", rule.name, said)
