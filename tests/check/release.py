"""A release, up to the moment of publishing it: everything that is handed over, in one folder, with its sums.

    bin/release            checks the tree, runs bin/check, and makes dist/VERSION/
    bin/release --checked  without bin/check, which has just run on this commit

What is in it: the wheel with the web client, the source, the pinned requirements, the bill of materials, the site of the docs,
and the notes: what the changelog says of this version, and how to come to it. The same commit makes the same wheel.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib import import_module
from pathlib import Path

from tertulia import __version__
from tertulia.migrations import FOLDER
from tests.check.suite import ROOT

WEB_CLIENT = ROOT / "src/tertulia/content/webclient/built/index.html"
NOTES = """# Tertulia {version}

{changes}

## How to come to it

The form of its database is {form}{works_with}. Make a backup (docs/how-to/backup.md), then upgrade as
docs/how-to/upgrade.md says: `tertulia migrate --check` tells what would be done.
"""


class NotReady(Exception):
    """Something is to be done before the release. The text says what."""


def main() -> None:
    """All of it."""
    try:
        folder = make_release(is_checked="--checked" in sys.argv[1:])
    except NotReady as reason:
        raise SystemExit(f"bin/release: {reason}") from None
    print(f"{folder}: {', '.join(sorted(file.name for file in folder.iterdir()))}")
    print(f"Left to do by hand: read release-notes.md, sign SHA256SUMS, `git tag -s v{__version__}`, publish.")


def make_release(*, is_checked: bool) -> Path:
    notes = notes_of(__version__, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if _output("git", "status", "--porcelain"):
        raise NotReady("the tree has changes that are not committed: a release is of a commit")
    if not WEB_CLIENT.exists():
        raise NotReady("the web client is not built: bin/setup, on a machine with Node.js or the wheel of it")
    if not is_checked:
        _run("bin/check")
    folder = ROOT / "dist" / __version__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    moment = _output("git", "log", "-1", "--format=%ct")
    for kind in ("wheel", "sdist"):
        _run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder), SOURCE_DATE_EPOCH=moment)
    for name in ("base.txt", "standalone.txt"):
        shutil.copy(ROOT / "requirements" / name, folder / f"requirements-{name}")
    _run("bin/sbom", str(folder / "sbom.cdx.json"))
    _run("bin/docs", str(ROOT / "build" / "site"))
    with tarfile.open(folder / f"tertulia-{__version__}-docs.tar.gz", "w:gz") as archive:
        archive.add(ROOT / "build" / "site", f"tertulia-{__version__}-docs")
    (folder / "release-notes.md").write_text(notes, encoding="utf-8")
    (folder / "SHA256SUMS").write_text(sums_of(folder), encoding="utf-8")
    return folder


def notes_of(version: str, changelog: str) -> str:
    """What the changelog says of this version, and how to come to it."""
    found = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise NotReady(
            f"CHANGELOG.md says nothing of {version}: give what is under Unreleased a heading `## {version}`"
        )
    newest = max(path.stem for path in (FOLDER / "versions").glob("0*.py"))
    form, works_with = newest.partition("_")[0], import_module(f"tertulia.migrations.versions.{newest}").works_with
    beside = f"; programs of form {works_with} work beside it" if works_with != form else ""
    return NOTES.format(version=version, changes=found[1].strip(), form=form, works_with=beside)


def sums_of(folder: Path) -> str:
    """As `sha256sum --check` reads them."""
    files = sorted(file for file in folder.iterdir() if file.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def _output(*words: str) -> str:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _run(*words: str, **variables: str) -> None:
    if subprocess.run(words, cwd=ROOT, env=os.environ | variables, check=False).returncode:
        raise NotReady(f"`{' '.join(words)}` failed")


if __name__ == "__main__":
    main()
