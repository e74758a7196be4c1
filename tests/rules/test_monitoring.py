"""What stands in deploy/monitoring works: the alerts fire when they should, and nothing is shown that nobody counts."""

import json
import re
from pathlib import Path

import pytest

from tests.harness.promtool import promtool

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "monitoring"
COUNTED = set(re.findall(r"^\| `(tertulia_\w+)`", (ROOT / "docs/reference/metrics.md").read_text(), re.MULTILINE))
PARTS = ("_bucket", "_count", "_sum")


def check(*arguments: str, cwd: Path = FOLDER) -> None:
    said = promtool(*arguments, cwd=cwd)
    assert said.returncode == 0, said.stdout + said.stderr


def dashboard_expressions() -> list[str]:
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def alerts() -> str:
    return (FOLDER / "alerts.yml").read_text()


def test_each_alert_fires_when_it_should_and_none_while_all_is_well() -> None:
    check("test", "rules", "alerts_test.yml")


def test_no_alert_is_without_its_test() -> None:
    named, tried = re.findall(r"- alert: (\w+)", alerts()), (FOLDER / "alerts_test.yml").read_text()
    assert len(named) > 10
    assert [name for name in named if f'alertname="{name}"' not in tried] == []


def test_the_configuration_of_prometheus_is_one() -> None:
    check("check", "config", "prometheus.yml")


def test_whatever_the_dashboard_asks_is_a_question_that_prometheus_understands(tmp_path: Path) -> None:
    asked = [re.sub(r"\$__rate_interval", "5m", expression) for expression in dashboard_expressions()]
    assert len(asked) > 30
    rules = [{"record": f"asked:{number}", "expr": expression} for number, expression in enumerate(asked)]
    (tmp_path / "asked.yml").write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))  # JSON is YAML
    check("check", "rules", "asked.yml", cwd=tmp_path)


@pytest.mark.parametrize("expressions", [dashboard_expressions(), [alerts()]], ids=["dashboard", "alerts"])
def test_whatever_is_shown_or_watched_is_counted_by_some_process(expressions: list[str]) -> None:
    named = {name for expression in expressions for name in re.findall(r"\btertulia_\w+", expression)}
    assert {name for name in named if name not in COUNTED and not _is_part(name)} == set()


def _is_part(name: str) -> bool:
    return any(name.endswith(part) and name.removesuffix(part) in COUNTED for part in PARTS)
