"""Versions that are not released yet, made of this one: copies of the package in folders of their own, with real changes.

`next` spells alert words in another column. Its migrations add the column and fill it, so this version works on beside it; it
tells the number of words in an event of a new kind, and writes a key into every record of the log and of queues that this
version does not know. `after` takes the old column away, which ends this version, but not `next`.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import tertulia
from tertulia.kernel.form import own_form

PACKAGE = Path(tertulia.__path__[0])
SECRET = "not for clients"

_HEAD = '''"""{what}"""

from tertulia.migrations.steps import run, run_alone

revision = "{form}"
down_revision = "{before}"
branch_labels = None
depends_on = None
works_with = "{works_with}"
'''
_IN_ONE = '''
SQL = """
{sql}
"""


def upgrade() -> None:
    run(SQL)
'''
_ALONE = '''
REPEATABLE = ["""
{sql}
"""]


def upgrade() -> None:
    run_alone(REPEATABLE)
'''
_SPELLING = """
alter table alert_word add column spelling text;

create function alert_word_spelt() returns trigger language plpgsql as $$
begin
    new.spelling := coalesce(new.spelling, new.word);
    new.word := coalesce(new.word, new.spelling);
    return new;
end $$;

create trigger alert_word_spelt before insert on alert_word for each row execute function alert_word_spelt();
"""
_FILL = """
with portion as (select ctid from alert_word where spelling is null limit 10000)
update alert_word set spelling = word from portion where alert_word.ctid = portion.ctid
"""
_WITHOUT_WORD = """
drop trigger alert_word_spelt on alert_word;
drop function alert_word_spelt();
alter table alert_word drop column word;
"""
_COUNT = '''
class WordCountEvent(Event, frozen=True, kw_only=True):
    """How many alert words you have now."""

    type: Literal["word_count"]
    count: int


class WordCountPresenter:
    """Leaves out what is not for clients."""

    def variant(self, logged, listener):
        return None

    def present(self, logged, listener):
        import msgspec

        return b'"count":%d' % msgspec.json.decode(logged.record.event)["count"]


KEYS = {
'''


@dataclass(frozen=True)
class Version:
    """A version of the program. `root`: where its package is; None: this one."""

    name: str
    form: str
    root: Path | None = None

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "tertulia"]

    @property
    def env(self) -> dict[str, str]:
        """What is set for its processes, besides settings."""
        return dict(os.environ) if self.root is None else os.environ | {"PYTHONPATH": str(self.root)}


@dataclass
class Workbench:
    """A copy of a package that is being changed."""

    root: Path
    form: str
    package: Path = field(init=False)

    def __post_init__(self) -> None:
        self.package = self.root / "tertulia"

    def change(self, file: str, *changes: tuple[str, str]) -> None:
        path = self.package / file
        text = path.read_text()
        for before, after in changes:
            assert text.count(before) == 1, f"{file} has {text.count(before)} times: {before}"
            text = text.replace(before, after)
        path.write_text(text)

    def migrate(self, what: str, body: str, sql: str, *, works_with: str) -> str:
        before, self.form = self.form, f"{int(self.form) + 1:04}"
        head = _HEAD.format(what=what, form=self.form, before=before, works_with=works_with)
        path = self.package / "migrations" / "versions" / f"{self.form}_later.py"
        path.write_text(head + body.format(sql=sql.strip()))
        return self.form


THIS = Version("this", own_form())


def take_release(root: Path, reference: str) -> Version:
    """The program of a commit of the past, out of this repository; with the libraries of today."""
    root.mkdir()
    packed = subprocess.run(
        ["git", "archive", reference, "src/tertulia"], cwd=PACKAGE.parents[1], check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "--extract", "--strip-components=1", "-C", str(root)], input=packed, check=True)
    forms = sorted(path.name[:4] for path in (root / "tertulia" / "migrations" / "versions").glob("[0-9]*.py"))
    return Version(reference, forms[-1], root)


def make_next(root: Path) -> Version:
    """The version after this one: it only adds."""
    bench = _copy(PACKAGE, root, THIS.form)
    bench.change("__init__.py", (f'"{tertulia.__version__}"', '"0.1.1"'))
    bench.migrate("Alert words have a spelling.", _IN_ONE, _SPELLING, works_with=THIS.form)
    bench.migrate("Every alert word has it.", _ALONE, _FILL, works_with=THIS.form)
    bench.change(
        "people/alert_words/queries.py",
        ("select word from alert_word where user_id", "select spelling as word from alert_word where user_id"),
        (
            "insert into alert_word (realm_id, user_id, word_key, word,",
            "insert into alert_word (realm_id, user_id, word_key, spelling,",
        ),
    )
    told = 'tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "alert_words", {"alert_words": words}))'
    counted = f'''count = {{"count": len(words), "secret": "{SECRET}"}}
        tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "word_count", count))
        {told.replace("words}", 'words, "count": len(words)}')}'''
    bench.change("people/alert_words/actions.py", (told, counted))
    bench.change(
        "people/alert_words/wire.py",
        ("KEYS = {\n", _COUNT.lstrip()),
        ("    alert_words: list[str]\n", "    alert_words: list[str]\n    count: int\n"),
    )
    bench.change(
        "people/alert_words/feature.py",
        (
            "    bounds=bounds.ALL,\n",
            "    bounds=bounds.ALL,\n    presenters={'word_count': wire.WordCountPresenter()},\n",
        ),
    )
    bench.change(
        "events/log/record.py",
        (
            '    stamp: msgspec.Raw = msgspec.Raw(b"")\n',
            '    since: str = ""\n    stamp: msgspec.Raw = msgspec.Raw(b"")\n',
        ),
        ("changes=changes, ends=ends)", 'changes=changes, ends=ends, since="0.1.1")'),
    )
    bench.change(
        "events/queues/queue_record.py", ('    knows: str = ""\n', '    since: str = "0.1.1"\n    knows: str = ""\n')
    )
    return Version("next", bench.form, root)


def make_after(root: Path, before: Version) -> Version:
    """The version after the next: it takes away what only this one still used."""
    assert before.root is not None
    bench = _copy(before.root / "tertulia", root, before.form)
    bench.change("__init__.py", ('"0.1.1"', '"0.1.2"'))
    bench.migrate("Alert words have no other spelling.", _IN_ONE, _WITHOUT_WORD, works_with=before.form)
    return Version("after", bench.form, root)


def _copy(package: Path, root: Path, form: str) -> Workbench:
    """With what is compiled already, but without the web client."""
    shutil.copytree(package, root / "tertulia", ignore=shutil.ignore_patterns("built"))
    return Workbench(root, form)
