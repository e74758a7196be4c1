"""All integrations. Whoever adds one makes its folder and adds its line."""

from tertulia.integrations.incoming import signatures
from tertulia.integrations.incoming.alertmanager import parse as alertmanager_parse
from tertulia.integrations.incoming.github import parse as github_parse
from tertulia.integrations.incoming.gitlab import parse as gitlab_parse
from tertulia.integrations.incoming.grafana import parse as grafana_parse
from tertulia.integrations.incoming.json import parse as json_parse
from tertulia.integrations.incoming.model import Integration
from tertulia.integrations.incoming.sentry import parse as sentry_parse
from tertulia.integrations.incoming.slack_incoming import parse as slack_parse

INTEGRATIONS: dict[str, Integration] = {
    integration.name: integration
    for integration in (
        Integration("alertmanager", "Prometheus Alertmanager", alertmanager_parse.parse, alertmanager_parse.EVENTS),
        Integration("github", "GitHub", github_parse.parse, github_parse.EVENTS, signatures.github),
        Integration(
            "gitlab",
            "GitLab",
            gitlab_parse.parse,
            gitlab_parse.EVENTS,
            signatures.gitlab,
            signatures.can_be_gitlab,
        ),
        Integration("grafana", "Grafana", grafana_parse.parse, grafana_parse.EVENTS, signatures.grafana),
        Integration("json", "Anything as JSON", json_parse.parse),
        Integration("sentry", "Sentry", sentry_parse.parse, sentry_parse.EVENTS, signatures.sentry),
        Integration("slack_incoming", "Programs for Slack", slack_parse.parse),
    )
}
