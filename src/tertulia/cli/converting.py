"""What `tertulia import slack` and its siblings do around a converter: a temporary place, the report, and then the import."""

import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import print_json
from tertulia.cli.progress import Steps
from tertulia.cli.target import target_settings

if TYPE_CHECKING:
    from tertulia.archives.converting.accounts import Outcome
    from tertulia.archives.converting.fetching import Fetching
    from tertulia.archives.converting.report import Incidents


SLACK_FILES = "https://files.slack.com"
DISCORD_FILES = "https://cdn.discordapp.com"


def fetching_from(origin: str, folder: Path, token_file: Path | None, data: Path | None) -> "Fetching":
    """Whoever fetches files from there, and from nowhere else."""
    from tertulia.archives.converting.fetching import Fetching
    from tertulia.kernel.outbound import Outbound

    try:
        token = "" if token_file is None else token_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandFailed(f"{token_file} cannot be read.") from problem
    if not token.isascii() or any(sign.isspace() for sign in token):
        raise CommandFailed(f"{token_file} has no token: it must be one word.")
    return Fetching(Outbound(target_settings(data), seconds=120.0, networks=""), folder, origin, token)


@dataclass(frozen=True)
class Converted:
    """An archive, and what became of the export on its way there."""

    archive: Path
    outcome: "Outcome"
    incidents: "Incidents"

    def summary(self) -> dict[str, Any]:
        """For people and for programs."""
        outcome = self.outcome
        return {
            "entries": outcome.read,
            "imported": outcome.imported,
            "counts": dict(outcome.manifest.counts),
            "people": {
                "with_address": outcome.with_address,
                "without_address": outcome.without_address,
                "merged": outcome.merged,
                "owner": outcome.owner,
                "proposed": outcome.proposed,
            },
            "lost": dict(self.incidents.lost),
            "changed": dict(self.incidents.changed),
        }


@contextmanager
def converted(
    convert: "Callable[[Path, Path, Incidents, Steps], Coroutine[Any, Any, Outcome]]", to: Path | None, report: Path
) -> Iterator[Converted]:
    """The archive, as long as this lasts; or for good, if somebody says where. Only whoever runs the command reads it."""
    import asyncio

    from tertulia.archives.converting.report import Incidents
    from tertulia.kernel.left_folders import forget_left_folders, temporary_folder

    forget_left_folders()
    with temporary_folder("import") as folder:
        incidents = Incidents(folder)
        try:
            target = folder / "archive.tar"
            if to is not None:
                to.touch(0o600)
                target = to
            with Steps() as told:
                outcome = asyncio.run(convert(target, folder, incidents, told))
            made = Converted(target, outcome, incidents)
            incidents.save(report, made.summary())
            yield made
        except OSError as problem:
            raise CommandFailed(f"The conversion stopped: {problem.strerror or problem}.") from problem
        finally:
            incidents.close()


def print_conversion(made: Converted, report: Path, *, as_json: bool) -> None:
    """What comes, what does not, and who is who."""
    summary = made.summary()
    if as_json:
        print_json({**summary, "report": str(report)})
        return
    print(f"{summary['imported']:,} of {summary['entries']:,} entries become messages")
    for kind, count in summary["counts"].items():
        if kind != "organization":
            print(f"{count:,}\t{kind.replace('_', ' ')}")
    people = summary["people"]
    print(f"People with an address, by which they claim their account: {people['with_address']:,}")
    print(f"People without one, who cannot log in until an administrator gives it: {people['without_address']:,}")
    for role, who in people["proposed"].items():
        print(f"{role} in the export, member here unless you say otherwise: {', '.join(who[:10])}")
    for title, counts in (("Lost:", summary["lost"]), ("Otherwise than it was:", summary["changed"])):
        if counts:
            print(title)
        for what, count in sorted(counts.items(), key=lambda one: -one[1]):
            print(f"{count:,}\t{what}")
    print(f"Every case is in {report}", file=sys.stderr)
