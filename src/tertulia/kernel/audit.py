"""The audit log's writing end: what a transaction notes of an act, and who the request says did it.

The kernel knows no act: what is noted, and about whom, is said by features (organization/audit_log). Here is where it comes from.
`request_under_way` is set around every request, so that no action has to hand its caller's network address through, and none
can forget it. Nothing is set where nobody asked: commands of the operator, and the worker.

Invariants:
- Entries are written with the change, in one statement right before the commit (`Transaction.flush`).
- An entry holds ids, numbers and booleans. Every text goes into a detail, of the person whom it names.
- The entries of a realm are numbered in the order of their commits: whoever has read up to a number has missed nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import msgspec
import structlog
from prometheus_client import Counter

from tertulia.kernel.auth import Caller, DirectoryClient
from tertulia.kernel.call import Call
from tertulia.kernel.log import has_log

log = structlog.get_logger()
ACTS = Counter("tertulia_audited_acts", "What the audit log has noted; `login.failed` is a failed log-in", ["act"])

MAX_AGENT = 300
MAX_TEXT = 500
MAX_IDS = 1000
"""Of a list in an entry: there is an upper limit to its size."""


class Word(str):
    """A word of a closed list, such as a reason: it names nobody, and stays in the entry."""

    __slots__ = ()


Change: TypeAlias = tuple[object, object]
"""Before and after; (None, None): that it changed, and nothing more."""

WRITE = """
with held as materialized (
    select pg_advisory_xact_lock(8, realm_id::integer) from (
        select distinct (entry->>'realm_id')::bigint as realm_id from jsonb_array_elements($1::text::jsonb) as entry order by 1
    ) as realms
), numbered as materialized (
    select nextval(pg_get_serial_sequence('audit_entry', 'id')) as id, clock_timestamp() as created, entry
    from (select count(*) from held) as all_held, jsonb_array_elements($1::text::jsonb) as entry
), written as (
    insert into audit_entry
        (id, realm_id, created, act, actor_id, key_id, session_id, target_kind, target_id, changes)
    select id, (entry->>'realm_id')::bigint, created, entry->>'act', (entry->>'actor_id')::bigint,
        (entry->>'key_id')::bigint, (entry->>'session_id')::bigint, entry->>'target_kind',
        (entry->>'target_id')::bigint, entry->'changes'
    from numbered
), detailed as (
    insert into audit_detail (entry_id, subject_id, realm_id, address, agent, texts)
    select id, (detail->>'subject_id')::bigint, (entry->>'realm_id')::bigint, detail->>'address', detail->>'agent',
        detail->'texts'
    from numbered, jsonb_array_elements(entry->'details') as detail
)
select pg_current_xact_id()::text
"""


class Detail(msgspec.Struct):
    """What an entry has about one person."""

    subject_id: int
    address: str = ""
    agent: str = ""
    texts: dict[str, list[Any]] = msgspec.field(default_factory=dict)


class Entry(msgspec.Struct):
    """One act, as it is written."""

    realm_id: int
    act: str
    actor_id: int | None
    key_id: int | None
    session_id: int | None
    target_kind: str | None
    target_id: int | None
    changes: dict[str, list[Any]]
    details: list[Detail]


class Source(msgspec.Struct, frozen=True):
    """Who acts, by what, and from where."""

    actor_id: int | None = None
    key_id: int | None = None
    session_id: int | None = None
    address: str = ""
    agent: str = ""
    scim_token: int | None = None
    """The token of a directory, which has no account of its own."""


class Proved(msgspec.Struct, frozen=True):
    """Somebody who is not logged in, but shows who they are: by a password, a token of a mail, a code."""

    user_id: int | None = None
    key_id: int | None = None
    session_id: int | None = None


_request: ContextVar[tuple[Call, Caller | None] | None] = ContextVar("request", default=None)


class request_under_way:  # noqa: N801 -- as a context: every request has one, and a generator would cost it five times as much
    """Whatever is noted meanwhile is done by this request."""

    __slots__ = ("_request", "_token")

    def __init__(self, call: Call, caller: Caller | None) -> None:
        self._request = (call, caller)

    def __enter__(self) -> None:
        self._token = _request.set(self._request)

    def __exit__(self, *_: object) -> None:
        _request.reset(self._token)


def request_now() -> tuple[Call, Caller | None] | None:
    """The request that this is done for, and who makes it; None: a command's or the worker's own work."""
    return _request.get()


@contextmanager
def done_for_many() -> Iterator[None]:
    """What is done meanwhile is nobody's: others wait for it too, and must not wait for whoever asked first."""
    token = _request.set(None)
    try:
        yield
    finally:
        _request.reset(token)


def forget_request() -> None:
    """What this task does from now on is for many, whoever's request began it."""
    _request.set(None)


def source_now(proved: Proved | None = None) -> Source:
    """Who acts at this moment. `proved`: who it is if nobody is logged in, because they show it with this very request."""
    request = _request.get()
    if request is None:
        return Source()
    call, caller = request
    agent = (call.header("user-agent") or "").replace("\0", "")[:MAX_AGENT]
    if caller is None or caller.is_nobody:
        who = Proved() if proved is None else proved
        return Source(who.user_id, who.key_id, who.session_id, call.peer, agent)
    token_id = caller.token_id if isinstance(caller, DirectoryClient) else None
    return Source(caller.user_id, caller.key_id or None, caller.session_id or None, call.peer, agent, token_id)


def entry_of(
    realm_id: int, act: str, source: Source, target: tuple[str, int] | None, changes: Mapping[str, Change]
) -> Entry:
    """An entry, with every text in the detail of whom it names: the target if that is a person, else nobody."""
    kind, target_id = target or (None, None)
    subject_id = target_id if kind == "user" and target_id is not None else 0
    details: dict[int, Detail] = {}
    if source.address or source.agent:
        # Where a login failed, it was perhaps the person whose account was meant: then the address goes with them.
        where = source.actor_id or subject_id
        details[where] = Detail(where, source.address, source.agent)
    plain: dict[str, list[Any]] = {"by_scim_token": [None, source.scim_token]} if source.scim_token else {}
    for name, change in changes.items():
        bounded = [_bounded(value) for value in change]
        if any(map(_is_text, bounded)):
            details.setdefault(subject_id, Detail(subject_id)).texts[name] = bounded
        else:
            plain[name] = bounded
    return Entry(
        realm_id, act, source.actor_id, source.key_id, source.session_id, kind, target_id, plain, list(details.values())
    )


def tell(entries: Iterable[Entry]) -> None:
    """A line in the log of the process for each act that is done: for whoever watches logs and not the database. Like all of
    them it holds neither names nor addresses. Commands, which have no log, tell nothing."""
    if not has_log():
        return
    for entry in entries:
        ACTS.labels(entry.act).inc()
        by = {"actor_id": entry.actor_id, "key_id": entry.key_id, "session_id": entry.session_id}
        about = {"target": f"{entry.target_kind} {entry.target_id}"} if entry.target_kind else {}
        known = {name: value for name, value in by.items() if value is not None}
        log.info("audit", act=entry.act, realm_id=entry.realm_id, **known, **about)


def encode(entries: list[Entry]) -> str:
    """Entries as the statement takes them."""
    return msgspec.json.encode(entries, enc_hook=str).decode()


def _is_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_text, value.values()))
    if isinstance(value, list):
        return any(map(_is_text, value))
    return isinstance(value, str) and not isinstance(value, Word)


def _bounded(value: Any) -> Any:
    """A value as JSON has it, with an upper limit of its size."""
    if isinstance(value, msgspec.Struct):
        return _bounded(msgspec.to_builtins(value))
    if isinstance(value, dict):
        return {str(name): _bounded(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [_bounded(part) for part in parts[:MAX_IDS]]
    if isinstance(value, Word):
        return value
    return value.replace("\0", "")[:MAX_TEXT] if isinstance(value, str) else value
