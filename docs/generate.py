"""Writes the pages of docs/reference/ that follow from the code. A test compares; this script brings them up to date:

.venv/bin/python docs/generate.py
"""

import ast
import inspect
from pathlib import Path

from tertulia import compat
from tertulia.integrations.table import INTEGRATIONS
from tertulia.kernel import settings

REFERENCE = Path(__file__).parent / "reference"
ROOT = Path(__file__).parents[1]


def main() -> None:
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


def pages() -> dict[str, str]:
    """The generated pages: file name and text."""
    return {
        "settings.md": settings_page(),
        "metrics.md": metrics_page(),
        "integrations.md": integrations_page(),
        "compatibility.md": compatibility_page(),
    }


def settings_page() -> str:
    """Every setting with its type, default and text, under the headings of kernel/settings.py."""
    lines = [
        "# Settings",
        "",
        "<!-- Generated from src/tertulia/kernel/settings.py by docs/generate.py: edit there. -->",
        "",
        "A setting is an environment variable, or the same name without the prefix and in lower case in a TOML file",
        "named by `TERTULIA_CONFIG`. The environment wins over the file, the file over the default. A value that cannot",
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


def compatibility_page() -> str:
    """Every older name, from the tables of compat.py."""
    lines = [
        "# Older names",
        "",
        "<!-- Generated from src/tertulia/compat.py by docs/generate.py: edit there. -->",
        "",
        "Programs written for earlier servers of this protocol family read and send older names. They are sent beside",
        "ours as long as `TERTULIA_COMPAT_ALIASES` is true, which is the default; with `false` none of them is sent. What",
        "callers send under an older name is accepted in any case. New programs use our names only.",
    ]
    parts = (("Keys beside ours", compat.TABLE), ("In other forms", compat.WHOLE), ("Accepted", compat.ACCEPTED))
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
        "A web process answers these on its own port; relay and worker on `TERTULIA_METRICS_PORT`, if it is set.",
        "",
        "| Address | |",
        "|---|---|",
        "| `/health/live` | 200 as long as the process works at all |",
        "| `/health/ready` | 200 when it can do its job, otherwise 503 with the reason |",
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
                if kind not in ("Counter", "Gauge", "Histogram", "Summary"):
                    continue
                named = [keyword.value for keyword in node.keywords if keyword.arg in ("labelnames", "labels")]
                labels = ", ".join(ast.literal_eval([*more, *named][0])) if more or named else ""
                ending = "_total" if kind == "Counter" and not name.endswith("_total") else ""
                rows.append(f"| `{name}{ending}` | {kind.lower()} | {labels} | {text.rstrip('.')} |")
    return rows


INTEGRATIONS_HEAD = """# Integrations

<!-- Generated from src/tertulia/integrations by docs/generate.py: edit the guides there. -->

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
| 413 | more than 5 MiB |
"""


def integrations_page() -> str:
    """Every integration with its guide and the events it knows."""
    parts = [INTEGRATIONS_HEAD]
    for integration in INTEGRATIONS.values():
        guide = ROOT / "src" / "tertulia" / "integrations" / integration.name / "guide.md"
        events = ", ".join(f"`{event}`" for event in integration.events)
        parts.append(
            f"\n## {integration.display_name}\n\nName: `{integration.name}`."
            + (f" Events: {events}." if events else "")
        )
        parts.append(f"\n\n{guide.read_text(encoding='utf-8').strip()}\n")
    return "".join(parts)


if __name__ == "__main__":
    main()
