"""All integrations. Whoever adds one makes its folder and adds its line."""

from tertulia.integrations.alertmanager import parse as alertmanager_parse
from tertulia.integrations.github import parse as github_parse
from tertulia.integrations.gitlab import parse as gitlab_parse
from tertulia.integrations.grafana import parse as grafana_parse
from tertulia.integrations.json import parse as json_parse
from tertulia.integrations.model import Integration
from tertulia.integrations.sentry import parse as sentry_parse
from tertulia.integrations.slack_incoming import parse as slack_parse

INTEGRATIONS: dict[str, Integration] = {
    integration.name: integration
    for integration in (
        Integration("alertmanager", "Prometheus Alertmanager", alertmanager_parse.parse, alertmanager_parse.EVENTS),
        Integration("github", "GitHub", github_parse.parse, github_parse.EVENTS),
        Integration("gitlab", "GitLab", gitlab_parse.parse, gitlab_parse.EVENTS),
        Integration("grafana", "Grafana", grafana_parse.parse, grafana_parse.EVENTS),
        Integration("json", "Anything as JSON", json_parse.parse),
        Integration("sentry", "Sentry", sentry_parse.parse, sentry_parse.EVENTS),
        Integration("slack_incoming", "Programs for Slack", slack_parse.parse),
    )
}
