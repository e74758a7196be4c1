"""What GitLab posts; `object_kind` says of what kind it is."""

from collections.abc import Callable

from tertulia.integrations.incoming.gitlab.model import Attributes, Payload
from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.refusals import UnsupportedEvent, anomalous, read
from tertulia.integrations.incoming.wording import code, commit, line, link, listing, name, quote

_NO_COMMIT = "0" * 40
_CHANGES = {
    "open": "opened",
    "close": "closed",
    "reopen": "reopened",
    "merge": "merged",
    "approved": "approved",
    "unapproved": "took back the approval of",
    "create": "created",
    "delete": "deleted",
}

Told = tuple[str, str] | None


def parse(delivery: Delivery) -> Post | None:
    """One message for each event that people want to hear of; None for the small changes."""
    payload = read(delivery.payload, Payload)
    tell = _EVENTS.get(payload.object_kind)
    if tell is None:
        raise UnsupportedEvent(payload.object_kind)
    found = tell(payload)
    if found is None:
        return None
    topic, content = found
    project = payload.project.name if payload.project else "GitLab"
    return Post(payload.object_kind, f"{project} / {topic}" if topic else project, content)


def _who(payload: Payload) -> str:
    return name(payload.user_name or (payload.user and (payload.user.name or payload.user.username)) or "")


def _push(payload: Payload) -> Told:
    if payload.ref is None:
        raise anomalous()
    short = payload.ref.removeprefix("refs/heads/")
    if payload.after == _NO_COMMIT:
        return short, f"{_who(payload)} deleted the branch {code(short)}."
    commits = payload.commits or []
    count = max(payload.total_commits_count or 0, len(commits))
    told = listing(commits, lambda each: commit(each.id, each.message, each.url))
    new = " the new branch" if payload.before == _NO_COMMIT else ""
    heading = f"{_who(payload)} pushed {count} {'commit' if count == 1 else 'commits'} to{new} {code(short)}"
    return short, f"{heading}:{told}" if told else f"{heading}."


def _tag(payload: Payload) -> Told:
    if payload.ref is None:
        raise anomalous()
    short = payload.ref.removeprefix("refs/tags/")
    verb = "deleted" if payload.after == _NO_COMMIT else "pushed"
    return short, f"{_who(payload)} {verb} the tag {code(short)}."


def _attributes(payload: Payload) -> Attributes:
    if payload.object_attributes is None:
        raise anomalous()
    return payload.object_attributes


def _change(word: str, sign: str) -> Callable[[Payload], Told]:
    def tell(payload: Payload) -> Told:
        thing = _attributes(payload)
        verb = _CHANGES.get(thing.action or "")
        if verb is None:
            return None
        body = quote(thing.description) if thing.action == "open" else ""
        numbered = link(f"{word} {sign}{thing.iid or 0}", thing.url)
        return _topic(
            word, sign, thing.iid, thing.title
        ), f"{_who(payload)} {verb} {numbered}: {line(thing.title or '')}{body}"

    return tell


def _topic(word: str, sign: str, number: int | None, title: str | None) -> str:
    return f"{word} {sign}{number or 0} {title or ''}"


def _note(payload: Payload) -> Told:
    note = _attributes(payload)
    said = link("commented", note.url)
    if payload.merge_request is not None:
        topic = _topic("MR", "!", payload.merge_request.iid, payload.merge_request.title)
        where = f"MR !{payload.merge_request.iid or 0}"
    elif payload.issue is not None:
        topic = _topic("issue", "#", payload.issue.iid, payload.issue.title)
        where = f"issue #{payload.issue.iid or 0}"
    else:
        topic, where = "commits", code(payload.commit.id[:8]) if payload.commit else "a snippet"
    return topic, f"{_who(payload)} {said} on {where}:{quote(note.note)}"


def _pipeline(payload: Payload) -> Told:
    run = _attributes(payload)
    if run.status not in ("success", "failed", "canceled"):
        return None
    return run.ref or "", _run(run.status, f"{link(f'Pipeline {run.id or 0}', run.url)} on {code(run.ref or '')}")


def _build(payload: Payload) -> Told:
    if payload.build_name is None or payload.ref is None:
        raise anomalous()
    if payload.build_status not in ("success", "failed", "canceled"):
        return None
    return payload.ref, _run(payload.build_status, f"Job {name(payload.build_name)} on {code(payload.ref)}")


def _run(status: str, what: str) -> str:
    signs = {"success": ":check: ", "failed": ":cross_mark: "}
    return f"{signs.get(status, '')}{what}: {status}."


def _wiki(payload: Payload) -> Told:
    page = _attributes(payload)
    verb = {"create": "created", "update": "changed", "delete": "deleted"}.get(page.action or "")
    return ("wiki", f"{_who(payload)} {verb} {link('a page', page.url)}: {line(page.title or '')}") if verb else None


def _release(payload: Payload) -> Told:
    if payload.action != "create" or not isinstance(payload.tag, str):
        return None
    named = f" {line(payload.name)}" if payload.name and payload.name != payload.tag else ""
    return "releases", f"{link('Release', payload.url)} {code(payload.tag)}{named}.{quote(payload.description)}"


_EVENTS: dict[str, Callable[[Payload], Told]] = {
    "push": _push,
    "tag_push": _tag,
    "issue": _change("issue", "#"),
    "merge_request": _change("MR", "!"),
    "note": _note,
    "pipeline": _pipeline,
    "build": _build,
    "wiki_page": _wiki,
    "release": _release,
}
EVENTS = tuple(_EVENTS)
