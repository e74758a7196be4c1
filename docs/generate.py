"""Writes what follows from the code: pages of docs/reference/, and parts of other pages between `<!-- name -->` and
`<!-- /name -->`. A test compares; this script brings them up to date:

.venv/bin/python docs/generate.py
"""

import ast
import inspect
import json
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import msgspec

from tertulia.archives.form.kinds import KINDS
from tertulia.integrations.incoming.table import INTEGRATIONS
from tertulia.kernel import compat, settings
from tertulia.kernel.bounds import Bound, Otherwise
from tertulia.organization.groups import settings as permissions
from tertulia.organization.realms import settings as realms
from tertulia.people.preferences import model as preferences
from tertulia.server.features import FEATURES

T = TypeVar("T")
KEPT = {
    "organizations": realms.ONLY_KEPT,
    "permissions": permissions.ONLY_KEPT,
    "people": preferences.ONLY_KEPT,
}
DOCS = Path(__file__).parent
ROOT = DOCS.parent

sys.path.insert(0, str(ROOT))  # for `docs` and `tests`, which are not installed

from docs.web_parity import parity_page  # noqa: E402
from tests.harness.coverage import coverage_page  # noqa: E402


def main() -> None:
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")


def pages() -> dict[str, str]:
    """The generated pages, and those with generated parts: path below docs/ and text."""
    architecture = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    return {
        "reference/settings.md": settings_page(),
        "reference/limits.md": limits_page(),
        "reference/metrics.md": metrics_page(),
        "reference/integrations.md": integrations_page(),
        "reference/compatibility.md": compatibility_page(),
        "reference/protocol/coverage.md": coverage_page(),
        "reference/switches.md": switches_page(),
        "reference/parity.md": parity_page(),
        "reference/archive.md": archive_page(),
        "reference/archive.schema.json": archive_schema(),
        "explanation/architecture.md": with_part(with_part(architecture, "layers", layers()), "chores", chores()),
    }


def with_part(page: str, name: str, text: str) -> str:
    """A page with this text between the two marks of that name."""
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->\n")
    if not begin or not end:
        raise LookupError(f"the page has no place for {name}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def switches_page() -> str:
    """The page of what settings do, with those that do nothing here."""
    page = (DOCS / "reference" / "switches.md").read_text(encoding="utf-8")
    for name, kept in KEPT.items():
        lines = ["Only kept:", "", "| Setting | Why nothing obeys it |", "|---|---|"]
        lines += [f"| `{setting}` | {why} |" for setting, why in sorted(kept.items())]
        page = with_part(page, f"kept of {name}", "\n".join(lines) + "\n")
    return page


def archive_page() -> str:
    """The page of archives, with their kinds and the fields of each."""
    page = (DOCS / "reference" / "archive.md").read_text(encoding="utf-8")
    lines = ["| Kind | Type | What a line is | Fields; those in brackets may be left out |", "|---|---|---|---|"]
    for kind, record in KINDS.items():
        fields = [field.name if field.required else f"[{field.name}]" for field in msgspec.structs.fields(record)]
        what = (inspect.getdoc(record) or "").replace("\n", " ").rstrip(".")
        lines.append(f"| `{kind}` | `{record.__name__}` | {what} | `{' '.join(fields)}` |")
    return with_part(page, "kinds", "\n".join(lines) + "\n")


def archive_schema() -> str:
    """A JSON Schema of every kind of line."""
    _, types = msgspec.json.schema_components(KINDS.values(), ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Lines of an archive of Tertulia, by kind",
        "x-kinds": {kind: {"$ref": f"#/$defs/{record.__name__}"} for kind, record in KINDS.items()},
        "$defs": types,
    }
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def layers() -> str:
    """The areas from the top to the bottom, and the features of each, out of the contracts that hold the imports."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    inside = {one["containers"][0]: one["layers"] for one in contracts if one["type"] == "layers"}
    lines = ["| Floor | Area | What it is | In it, from the top |", "|---|---|---|---|"]
    areas = [layer.split(" | ") for layer in inside["tertulia"] if layer != "__main__"]
    for above, layer in enumerate(areas):
        for area in layer:
            what = (inspect.getdoc(import_module(f"tertulia.{area}")) or "").splitlines()[0].rstrip(".")
            parts = [", ".join(f"`{one}`" for one in part.split(" | ")) for part in inside.get(f"tertulia.{area}", [])]
            lines.append(f"| {len(areas) - above} | `{area}` | {what} | {'; '.join(parts)} |")
    return "\n".join(lines) + "\n"


def chores() -> str:
    """What the worker does, the most frequent first."""
    declared = [(chore.seconds, chore.name, feature.name) for feature in FEATURES for chore in feature.chores]
    lines = ["| Chore | Of the feature | Interval |", "|---|---|---|"]
    lines += [
        f"| {name.replace('_', ' ')} | `{feature}` | {seconds:g} s |" for seconds, name, feature in sorted(declared)
    ]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Every setting with its type, default and text, under the headings of kernel/settings.py."""
    lines = [
        "# Settings",
        "",
        "<!-- Generated from src/tertulia/kernel/settings.py by docs/generate.py: edit there. -->",
        "",
        "A setting is an environment variable, or the same name without the prefix and in lower case in a TOML file",
        "named by `TERTULIA_CONFIG`; if neither that nor `TERTULIA_POSTGRES_URL` is set, in `/etc/tertulia/tertulia.toml`, if",
        "there is one. The environment wins over the file, the file over the default. A value that cannot",
        "be used, or an unknown key in the file, stops the program with a sentence that says which.",
    ]
    source = inspect.getsource(settings.Settings)
    for heading, fields in sections(source):
        lines += ["", f"## {heading}", "", "| Variable | Type | Default | |", "|---|---|---|---|"]
        lines += [row(field, text) for field, text in fields]
    return "\n".join(lines) + "\n"


def sections(source: str) -> list[tuple[str, list[tuple[ast.AnnAssign, str]]]]:
    """Fields by the comment line that heads their group; the string below a field is its text."""
    structure = ast.parse(source).body[0]
    assert isinstance(structure, ast.ClassDef)
    headings = {n: line.strip(" #") for n, line in enumerate(source.splitlines(), 1) if line.strip().startswith("# ")}
    found: list[tuple[str, list[tuple[ast.AnnAssign, str]]]] = []
    for node, following in zip(structure.body, [*structure.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign):
            continue
        heading = headings.get(node.lineno - 1)
        if heading is not None or not found:
            found.append((heading or "General", []))
        found[-1][1].append((node, text_of(following)))
    return found


def text_of(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text).replace("\n", " ")
        case _:
            return ""


def row(field: ast.AnnAssign, text: str) -> str:
    assert isinstance(field.target, ast.Name)
    name = field.target.id
    default = getattr(settings.Settings(), name)
    kind = ast.unparse(field.annotation)
    if kind.startswith("Literal["):
        kind = " or ".join(f"`{word.strip(' ')[1:-1]}`" for word in kind.removeprefix("Literal[")[:-1].split(","))
    shown = "(empty)" if default == "" else f"`{str(default).lower() if isinstance(default, bool) else default}`"
    return f"| `{settings.PREFIX}{name.upper()}` | {kind} | {shown} | {text} |"


LIMITS_HEAD = """# Limits

<!-- Generated from the bounds that the features declare (bounds.py) by docs/generate.py: edit there. -->

What a person, a bot or an organization can pile up has a bound. It is checked in the transaction
that writes, so two requests at the same time do not pass it together. Whoever is over it is
answered `BAD_REQUEST` (HTTP 400) with the text that stands in the table, unless the table says
otherwise. Unfinished uploads are answered 429, and what would tell too much at once
`TOO_MANY_EVENTS` (HTTP 400): do it in several requests. An operator changes bounds by their names:
`TERTULIA_BOUNDS="drafts=2000, groups=10000"`. How often somebody may call is another matter: see
the rates in [the settings](settings.md).
"""
LIMITS_MORE = """
## What is told of a message

- GET /messages/{message_id}/history has the newest 100 versions of a message, and fewer if its
  earlier texts have more than 300,000 characters together. The newest two versions are always there.
- `edit_history` in a message has its newest 10 changes, and fewer if their texts have more than
  40,000 characters together. The newest change is always there.
- A message remembers its newest 20 moves, and a topic its newest 100 names.

## Sizes

- Texts, names and the like have the limits that POST /register returns.
- The organization's files have `TERTULIA_UPLOAD_QUOTA_MIB` in all, 10 GiB by default; one file has
  `TERTULIA_MAX_FILE_UPLOAD_SIZE_MIB`. A file too many is answered `REALM_UPLOAD_QUOTA`.
- One person, with their bots, has a share of that: `TERTULIA_UPLOAD_SHARE_PERCENT`, a tenth by
  default. Administrators may use all of it. Of a share a file takes 4 KiB at least. A file too many
  is answered `REALM_UPLOAD_QUOTA` with a text of its own.
- What another service posts to a webhook has 1 MiB, and is answered 413 beyond that. GitHub would
  post up to 25 MB, but a push of several hundred commits fits; GitLab lists 20 commits at most.
  Only the beginning of a long text is worked on: of Slack's format 20,000 characters in all.
- A form has 1,000 fields and 10,000 broken escapes at most.
- What a queue keeps of its registration, `event_types` and `narrow`, has 32 KiB together. More is
  refused.
- `unread_msgs` and `recent_private_conversations` name 50,000 people in direct conversations, those
  of the newest. `old_unreads_missing` says if some are left out.
- The group conversations that one person begins, with their bots, have 10,000 people together, and
  1,000 more in each hour (HTTP 429 `RATE_LIMIT_HIT` beyond that). Writing to groups that are there,
  and to one other person, is free of it.
- Passwords are checked a few at a time. If more than 16 people wait for each thread, the next one
  is told to try again (HTTP 503 `SERVER_NOT_READY` with `Retry-After`).
"""


def limits_page() -> str:
    """Every bound of every feature, and for each other table what bounds it."""
    lines = ["", "| What | Of each | Bound | Name | Over it | Feature | Table |", "|---|---|---|---|---|---|---|"]
    for feature, bound in declared(Bound):
        over = bound.refusal.format(limit=f"{bound.limit:,}") or bound.instead
        stored = ", ".join(f"`{table}`" for table in bound.tables) or "in memory"
        about = (bound.what, bound.of, f"{bound.limit:,}", f"`{bound.name}`", over, f"`{feature}`", stored)
        lines.append(f"| {' | '.join(about)} |")
    lines += ["", "## Bounded otherwise", "", "| Table | Feature | What bounds it |", "|---|---|---|"]
    for feature, other in declared(Otherwise):
        lines.append(f"| {', '.join(f'`{table}`' for table in other.tables)} | `{feature}` | {other.because} |")
    return LIMITS_HEAD + "\n".join(lines) + "\n" + LIMITS_MORE


def declared(kind: type[T]) -> list[tuple[str, T]]:
    """The bounds of this kind, each with its feature."""
    return [(feature.name, one) for feature in FEATURES for one in feature.bounds if isinstance(one, kind)]


def compatibility_page() -> str:
    """Every older name, from the tables of kernel/compat.py."""
    lines = [
        "# Older names",
        "",
        "<!-- Generated from src/tertulia/kernel/compat.py by docs/generate.py: edit there. -->",
        "",
        "Programs written for earlier servers of this protocol family read and send older names. They are sent beside",
        "ours as long as `TERTULIA_COMPAT_ALIASES` is true, which is the default; with `false` none of them is sent, but",
        "for the few that are names of [the protocol](protocol/README.md) itself. What callers send under an older name",
        "is accepted in any case. New programs use our names only.",
    ]
    parts = (
        ("Keys beside ours", compat.TABLE),
        ("Keys beside ours that are always sent", compat.KEPT),
        ("In other forms", compat.WHOLE),
        ("Accepted", compat.ACCEPTED),
    )
    for heading, table in parts:
        lines += ["", f"## {heading}", "", "| Older | Ours | Where | |", "|---|---|---|---|"]
        lines += [f"| {one.old} | {one.new} | {one.where} | {one.note} |" for one in table]
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """Every metric that is declared anywhere in the source."""
    lines = [
        "# Metrics and health",
        "",
        "<!-- Generated from the metrics declared in src/tertulia by docs/generate.py: edit there. -->",
        "",
        "Each process answers these on `TERTULIA_METRICS_PORT` of `TERTULIA_METRICS_HOST`, if a port is set. The public port",
        "has none of them.",
        "",
        "| Address | |",
        "|---|---|",
        "| `/health/live` | 200 as long as the process works at all |",
        "| `/health/serving` | 200 when a balancer should send it requests, otherwise 503: it starts or stops |",
        "| `/health/ready` | 200 when it and its engines can do everything, otherwise 503 with the reason |",
        "| `/metrics` | the metrics below, for Prometheus, beside those of the Python process |",
        "",
        "| Metric | Kind | Labels | |",
        "|---|---|---|---|",
    ]
    found = [metric for path in (ROOT / "src").rglob("*.py") for metric in metrics_of(path.read_text(encoding="utf-8"))]
    return "\n".join([*lines, *sorted(found)]) + "\n"


def metrics_of(source: str) -> list[str]:
    """The rows of the metrics that a module declares, each as `Kind("name", "text", [labels])`."""
    rows = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Name(id=word),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(text)), *more],
            ):
                kind = word.removesuffix("MetricFamily")
                if kind not in ("Counter", "Gauge", "Histogram", "Summary", "Durations"):
                    continue
                kind = "Histogram" if kind == "Durations" else kind
                named = [keyword.value for keyword in node.keywords if keyword.arg in ("labelnames", "labels")]
                labels = ", ".join(ast.literal_eval([*more, *named][0])) if more or named else ""
                ending = "_total" if kind == "Counter" and not name.endswith("_total") else ""
                rows.append(f"| `{name}{ending}` | {kind.lower()} | {labels} | {text.rstrip('.')} |")
    return rows


INTEGRATIONS_HEAD = """# Integrations

<!-- Generated from src/tertulia/integrations/incoming by docs/generate.py: edit the guides there. -->

Other services post what happens there, and a bot says it here. Make a bot of the type *incoming webhook*
(`POST /api/v1/bots` with `bot_type=2`): its key can do nothing but this, so it may stand in an address. A generic bot's
key works too, a person's never. Then give the service this address:

```
https://chat.example.com/api/v1/external/NAME?api_key=KEY&stream=CHANNEL&topic=TOPIC
```

| Parameter | |
|---|---|
| `api_key` | the bot's key |
| `stream` | the channel, by name (percent-encoded) or ID; without it the bot's owner gets direct messages |
| `topic` | where everything goes; without it the service's events choose |
| `only_events` | a JSON list of the kinds of events to tell, with `*` for any characters: `["push","pull_request*"]` |
| `exclude_events` | a JSON list of those not to tell |

The bot needs the rights that anybody needs to send there. What people wrote elsewhere is shown, but mentions nobody here.

| Answer | |
|---|---|
| 200 | told, or not worth telling; with `code` `UNSUPPORTED_WEBHOOK_EVENT_TYPE`: a kind of event that is unknown here |
| 400 `INVALID_JSON`, `ANOMALOUS_WEBHOOK_PAYLOAD`, `MISSING_HTTP_EVENT_HEADER` | not what the service posts |
| 400, other codes | as POST /messages answers: no such channel, no permission, topic too long |
| 401 `INVALID_API_KEY` | no key of a bot |
| 401 `INVALID_WEBHOOK_SIGNATURE` | a secret is set, and the payload is not signed with it, or too old |
| 400 `BAD_REQUEST` | a form of more than 1,000 fields, or one that is not urlencoded |
| 413 | more than 1 MiB |

## Signatures

An address with a key in it ends up in logs. GitHub, GitLab, Grafana and Sentry also sign what they post, with a secret
that never travels. Tell the bot the secret, as its owner or as an administrator:

```sh
curl -u EMAIL:KEY https://chat.example.com/api/v1/bots/BOT_ID/webhook_secret \\
    -d integration=github -d secret=SECRET
```

From then on the bot refuses what that service did not sign. Its key is worth nothing without the secret: the addresses of
other services that have no secret set, and POST /messages, answer the same refusal. A service that does not sign needs a bot
of its own. Only incoming webhook bots have secrets: the key of any other bot opens more than webhooks.

Where the service signs the time as well, what is older than five minutes is refused too. The secret is stored sealed and
cannot be shown again; another replaces it, an empty one ends the check.
"""


def integrations_page() -> str:
    """Every integration with its guide and the events it knows."""
    parts = [INTEGRATIONS_HEAD]
    for integration in INTEGRATIONS.values():
        guide = ROOT / "src" / "tertulia" / "integrations" / "incoming" / integration.name / "guide.md"
        events = ", ".join(f"`{event}`" for event in integration.events)
        parts.append(
            f"\n## {integration.display_name}\n\nName: `{integration.name}`."
            + (f" Events: {events}." if events else "")
        )
        parts.append(f"\n\n{guide.read_text(encoding='utf-8').strip()}\n")
    return "".join(parts)


if __name__ == "__main__":
    main()
