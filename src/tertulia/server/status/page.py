"""The page itself: plain HTML, without scripts, for light and dark screens (pure)."""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from string import Template
from typing import Final, Protocol

from tertulia import __version__
from tertulia.server.status.rules import Part, State

SUMMARY: Final = {
    State.HEALTHY: "Everything is healthy",
    State.BEHIND: "Something needs a look",
    State.DOWN: "Something is down",
}

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="15">
<title>$summary · Tertulia</title>
<style>
:root {
  --ground: #f6f6f4; --card: #fff; --text: #1d1f24; --quiet: #5f6470; --line: #e2e2de;
  --healthy: #1a7f4b; --behind: #9a5b00; --down: #b3261e;
  --healthy-ground: #e5f4ec; --behind-ground: #fdf0d9; --down-ground: #fce8e6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171b; --card: #1e2127; --text: #e8e9ec; --quiet: #a0a5b1; --line: #31353d;
    --healthy: #6fd6a0; --behind: #f2b95c; --down: #ff9a92;
    --healthy-ground: #173226; --behind-ground: #382a12; --down-ground: #3d1f1d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0; }
header p, footer { color: var(--quiet); font-size: .9rem; margin: .35rem 0 0; }
header { margin-bottom: 1.75rem; padding-left: 1rem; border-left: 4px solid var(--state); }
ul { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
li { padding: 1rem 1.25rem; }
li + li { border-top: 1px solid var(--line); }
.head { display: flex; align-items: baseline; gap: .75rem; flex-wrap: wrap; }
h2 { font-size: 1.05rem; margin: 0; }
.state { color: var(--state); background: var(--state-ground); border-radius: 999px; padding: .1rem .65rem;
  font-size: .85rem; font-weight: 600; }
.state::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%;
  background: currentColor; margin-right: .4rem; }
time { color: var(--quiet); font-size: .85rem; margin-left: auto; }
li p { margin: .35rem 0 0; overflow-wrap: anywhere; }
.do { border-left: 3px solid var(--state); padding-left: .75rem; margin-top: .6rem; }
.do strong { display: block; font-size: .85rem; color: var(--quiet); font-weight: 600; }
.guide { color: var(--quiet); font-size: .85rem; }
code { font-family: ui-monospace, "SFMono-Regular", Menlo, monospace; font-size: .9em; }
.healthy { --state: var(--healthy); --state-ground: var(--healthy-ground); }
.behind { --state: var(--behind); --state-ground: var(--behind-ground); }
.down { --state: var(--down); --state-ground: var(--down-ground); }
footer { margin-top: 1.25rem; }
</style>
</head>
<body>
<main>
<header class="$state">
<h1>$summary</h1>
<p>Looked at $looked_at. This page loads itself again every 15 seconds.</p>
</header>
<ul>
$parts
</ul>
<footer>Tertulia $version. <code>tertulia doctor</code> looks at settings and the machine as well.
As JSON: <code>/status.json</code>; in numbers: <code>/metrics</code>.</footer>
</main>
</body>
</html>
""")
_PART = Template("""<li class="$state">
<div class="head"><h2>$name</h2><span class="state">$state</span><time datetime="$iso">since $since</time></div>
<p>$says</p>$do
</li>""")
_DO = Template("""
<p class="do"><strong>What to do</strong>$do</p>""")
_GUIDE = Template("""
<p class="guide">More: <code>$guide</code></p>""")


class _Said(Protocol):
    @property
    def part(self) -> Part: ...

    @property
    def since(self) -> datetime: ...


def page_of(state: State, looked_at: datetime, parts: Sequence[_Said]) -> str:
    """The whole page; what is wrong stands on top."""
    order = [State.DOWN, State.BEHIND, State.HEALTHY]
    shown = sorted(parts, key=lambda said: order.index(said.part.state))
    return _PAGE.substitute(
        summary=SUMMARY[state],
        state=state,
        looked_at=_moment(looked_at),
        parts="\n".join(map(_part, shown)),
        version=escape(__version__),
    )


def _part(said: _Said) -> str:
    part = said.part
    do = _DO.substitute(do=_text(part.do)) if part.do else ""
    if part.do and part.guide:
        do += _GUIDE.substitute(guide=escape(part.guide))
    moment = said.since
    return _PART.substitute(
        name=escape(part.name),
        state=part.state,
        iso=moment.isoformat(timespec="seconds"),
        since=_moment(moment),
        says=_text(part.says),
        do=do,
    )


def _text(text: str) -> str:
    """With commands between backticks as such."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if at % 2 else piece for at, piece in enumerate(pieces))


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
