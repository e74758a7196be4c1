"""Alerts as Alertmanager posts them; Grafana took its format from there."""

from itertools import islice
from typing import Any

import msgspec

from tertulia.integrations.incoming.model import Post
from tertulia.integrations.incoming.refusals import anomalous, read
from tertulia.integrations.incoming.wording import MAX_LISTED, code, line, link, listing, name

MAX_LABELS = 100
"""So many of a group or an alert are looked at."""


class Alert(msgspec.Struct, rename="camel"):
    """One alert of a group."""

    status: str = "firing"
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    generator_url: str | None = msgspec.field(default=None, name="generatorURL")
    dashboard_url: str | None = msgspec.field(default=None, name="dashboardURL")
    panel_url: str | None = msgspec.field(default=None, name="panelURL")
    silence_url: str | None = msgspec.field(default=None, name="silenceURL")
    value_string: str | None = None


class Group(msgspec.Struct, rename="camel"):
    """What is posted: alerts that belong together."""

    alerts: list[Alert]
    status: str = "firing"
    title: str | None = None
    group_labels: dict[str, str] = {}
    common_labels: dict[str, str] = {}


def post_of(payload: Any, events: tuple[str, ...]) -> Post:
    """One message for a group whose status is one of these, in the topic of the group's name."""
    group = read(payload, Group)
    said = _tell(group.alerts)
    if not said or group.status not in events:
        raise anomalous()
    named = group.common_labels if group.common_labels.get("alertname") else group.group_labels
    return Post(group.status, _title_of(named) if named else group.title or "Alerts", said)


def _title_of(labels: dict[str, str]) -> str:
    """How a group of alerts is called."""
    return labels.get("alertname") or ", ".join(f"{key}={value}" for key, value in _sorted(labels)) or "Alerts"


def _sorted(labels: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(islice(labels.items(), MAX_LABELS))


def _tell(alerts: list[Alert]) -> str:
    """Those that fire and those that are over, each with what is known about it."""
    parts = []
    for status, heading in (("firing", ":fire: Firing"), ("resolved", ":check: Resolved")):
        chosen = [alert for alert in alerts if alert.status == status]
        if chosen:
            parts.append(f"{heading} ({len(chosen)}):{listing(chosen, _say)}")
    return "\n\n".join(parts)


def _say(alert: Alert) -> str:
    notes = alert.annotations
    summary = notes.get("summary") or notes.get("description") or notes.get("message") or ""
    called = name(alert.labels.get("alertname") or "Alert")
    more = [f"{key}={value}" for key, value in _sorted(alert.labels) if key != "alertname"][:MAX_LISTED]
    links = {"graph": alert.generator_url, "panel": alert.panel_url, "dashboard": alert.dashboard_url,
             "silence": alert.silence_url, "runbook": notes.get("runbook_url")}  # fmt: skip
    offered = [link(word, url) for word, url in links.items() if url]
    return " ".join([
        called, *([line(summary)] if summary else []), *([code(", ".join(more))] if more else []),
        *([f"({', '.join(offered)})"] if offered else []),
    ])  # fmt: skip
