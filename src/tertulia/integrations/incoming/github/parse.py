"""What GitHub posts; the header X-GitHub-Event says of what kind it is."""

from collections.abc import Callable

from tertulia.integrations.incoming.github.model import Payload, Thing
from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.refusals import UnsupportedEvent, anomalous, header_of, read
from tertulia.integrations.incoming.wording import code, commit, line, link, listing, name, quote

_CHANGES = {
    "opened": "opened",
    "closed": "closed",
    "reopened": "reopened",
    "assigned": "assigned",
    "unassigned": "unassigned",
    "ready_for_review": "marked as ready for review",
    "converted_to_draft": "made a draft of",
    "created": "started",
    "answered": "answered",
}


def parse(delivery: Delivery) -> Post | None:
    """One message for each event that people want to hear of; None for the many small changes."""
    event = header_of(delivery, "x-github-event")
    tell = _EVENTS.get(event)
    if tell is None:
        raise UnsupportedEvent(event)
    payload = read(delivery.payload, Payload)
    found = tell(payload)
    if found is None:
        return None
    topic, content = found
    repository = payload.repository.name if payload.repository else "GitHub"
    return Post(event, f"{repository} / {topic}" if topic else repository, content)


Told = tuple[str, str] | None


def _who(payload: Payload) -> str:
    return name(payload.sender.login if payload.sender else "")


def _ping(payload: Payload) -> Told:
    where = name(payload.repository.full_name) if payload.repository else "an organization"
    return "", f"GitHub is connected: {_who(payload)} added a webhook to {where}."


def _push(payload: Payload) -> Told:
    ref = payload.ref
    if ref is None or payload.commits is None:
        raise anomalous()
    kind, word = ("refs/tags/", "tag") if ref.startswith("refs/tags/") else ("refs/heads/", "branch")
    short = ref.removeprefix(kind)
    if payload.deleted:
        return short, f"{_who(payload)} deleted the {word} {code(short)}."
    if word == "tag":
        return short, f"{_who(payload)} pushed the tag {code(short)} ({link('compare', payload.compare)})."
    count = len(payload.commits)
    how = "force-pushed" if payload.forced else "pushed"
    commits = listing(payload.commits, lambda each: commit(each.id, each.message, each.url))
    new = " the new" if payload.created else ""
    heading = f"{_who(payload)} {how} {count} {'commit' if count == 1 else 'commits'} to{new} {code(short)}"
    return short, f"{heading} ({link('compare', payload.compare)}):{commits}" if count else f"{heading}."


def _ref(verb: str) -> Callable[[Payload], Told]:
    def tell(payload: Payload) -> Told:
        if payload.ref is None:
            raise anomalous()
        return payload.ref, f"{_who(payload)} {verb} the {line(payload.ref_type or 'ref', 20)} {code(payload.ref)}."

    return tell


def _thing_of(payload: Payload) -> tuple[Thing, str]:
    thing = payload.pull_request or payload.issue or payload.discussion
    if thing is None:
        raise anomalous()
    if payload.pull_request or (payload.issue and payload.issue.pull_request):
        return thing, "PR"
    return thing, "issue" if payload.issue else "discussion"


def _topic(thing: Thing, word: str) -> str:
    return f"{word} #{thing.number} {thing.title}"


def _change(payload: Payload) -> Told:
    thing, word = _thing_of(payload)
    verb = _CHANGES.get(payload.action)
    if payload.action == "review_requested" and payload.requested_reviewer:
        verb = f"asked {name(payload.requested_reviewer.login)} to review"
    if verb is None:
        return None
    if payload.action == "closed" and thing.merged:
        verb = "merged"
    to = f" to {name(payload.assignee.login)}" if payload.action == "assigned" and payload.assignee else ""
    draft = "draft " if thing.draft and payload.action == "opened" else ""
    body = quote(thing.body) if payload.action in ("opened", "created") else ""
    numbered = link(f"{draft}{word} #{thing.number}", thing.html_url)
    return _topic(thing, word), f"{_who(payload)} {verb} {numbered}{to}: {line(thing.title)}{body}"


def _comment(payload: Payload) -> Told:
    thing, word = _thing_of(payload)
    if payload.comment is None:
        raise anomalous()
    if payload.action not in ("created", ""):
        return None
    said = link("commented", payload.comment.html_url)
    return _topic(thing, word), f"{_who(payload)} {said} on {word} #{thing.number}:{quote(payload.comment.body)}"


def _review(payload: Payload) -> Told:
    thing, word = _thing_of(payload)
    if payload.review is None:
        raise anomalous()
    words = {"approved": "approved", "changes_requested": "asked for changes to", "commented": "reviewed"}
    verb = words.get((payload.review.state or "").lower())
    if payload.action != "submitted" or verb is None:
        return None
    numbered = link(f"{word} #{thing.number}", payload.review.html_url)
    return _topic(thing, word), f"{_who(payload)} {verb} {numbered}.{quote(payload.review.body)}"


def _commit_comment(payload: Payload) -> Told:
    comment = payload.comment
    if comment is None or comment.commit_id is None:
        raise anomalous()
    commit = code(comment.commit_id[:7])
    return "commits", f"{_who(payload)} {link('commented', comment.html_url)} on {commit}:{quote(comment.body)}"


def _release(payload: Payload) -> Told:
    release = payload.release
    if release is None:
        raise anomalous()
    if payload.action != "published":
        return None
    named = f" {line(release.name)}" if release.name and release.name != release.tag_name else ""
    tag = link("released", release.html_url)
    return "releases", f"{_who(payload)} {tag} {code(release.tag_name)}{named}.{quote(release.body)}"


def _fork(payload: Payload) -> Told:
    if payload.forkee is None:
        raise anomalous()
    return (
        "",
        f"{_who(payload)} {link('forked', payload.forkee.html_url)} the repository to {code(payload.forkee.full_name)}.",
    )


def _star(payload: Payload) -> Told:
    return ("", f"{_who(payload)} starred the repository.") if payload.action == "created" else None


def _workflow(payload: Payload) -> Told:
    run = payload.workflow_run
    if run is None:
        raise anomalous()
    if payload.action != "completed":
        return None
    sign = {"success": ":check:", "failure": ":cross_mark:"}.get(run.conclusion or "", "")
    result = line((run.conclusion or "ended").replace("_", " "), 30)
    branch = run.head_branch or ""
    called = f"{name(run.name or 'workflow')} on {code(branch)}"
    return branch, f"{sign} {link('Workflow', run.html_url)} {called}: {result}.".strip()


def _status(payload: Payload) -> Told:
    if payload.state is None or payload.sha is None:
        raise anomalous()
    if payload.state == "pending":
        return None
    said = f"{link(line(payload.state, 20), payload.target_url)}: {line(payload.description or '')}"
    return "commits", f"{code(payload.context or 'status')} of {code(payload.sha[:7])} is {said}".rstrip(": ")


_EVENTS: dict[str, Callable[[Payload], Told]] = {
    "ping": _ping,
    "push": _push,
    "create": _ref("created"),
    "delete": _ref("deleted"),
    "issues": _change,
    "pull_request": _change,
    "discussion": _change,
    "issue_comment": _comment,
    "pull_request_review_comment": _comment,
    "discussion_comment": _comment,
    "pull_request_review": _review,
    "commit_comment": _commit_comment,
    "release": _release,
    "fork": _fork,
    "star": _star,
    "workflow_run": _workflow,
    "status": _status,
}
EVENTS = tuple(_EVENTS)
