"""Upgrades: two versions at work on one database and one log. The long form is `bin/soak --upgrade`."""

import importlib.util
from pathlib import Path

import pytest

from tests.rules.migration_lint import faults_of
from tests.upgrade.rolling import play
from tests.upgrade.versions import THIS, make_after, make_next

pytestmark = pytest.mark.system


def test_the_versions_of_the_test_keep_the_rules_for_migrations(tmp_path: Path) -> None:
    after = make_after(tmp_path / "after", make_next(tmp_path / "next"))
    assert after.root is not None
    greatest = THIS.form
    for path in sorted((after.root / "tertulia" / "migrations" / "versions").glob("*_later.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert faults_of(module, greatest) == [], path.name
        greatest = max(greatest, module.works_with)
    assert greatest > THIS.form, "nothing was contracted"


@pytest.mark.timeout(400)
async def test_nothing_is_lost_or_doubled_while_versions_change_and_change_back(folder: Path) -> None:
    users = await play(folder, each=1, names=("relay", "web 1"), sends=5, seed=7, pause=0.2)
    assert users.answered > 50
    said, heard = users.longest
    print(f"{users.summary}; {dict(users.statuses)}; longest wait: {said:.2f} s for a reply, {heard:.2f} s for events")
