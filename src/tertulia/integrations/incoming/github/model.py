"""The parts of GitHub's payloads that are read."""

import msgspec


class User(msgspec.Struct):
    """Somebody with an account."""

    login: str


class Repository(msgspec.Struct):
    """Where it happened."""

    name: str
    full_name: str
    html_url: str | None = None


class Author(msgspec.Struct):
    """Who made a commit: not everybody has an account."""

    name: str | None = None
    username: str | None = None


class Commit(msgspec.Struct):
    """A commit of a push."""

    id: str
    message: str
    url: str | None = None
    author: Author | None = None


class Thing(msgspec.Struct):
    """An issue, a pull request or a discussion."""

    number: int
    title: str
    html_url: str | None = None
    body: str | None = None
    merged: bool | None = None
    draft: bool | None = None
    pull_request: object = None
    """In an issue: it is a pull request really."""


class Comment(msgspec.Struct):
    """What somebody said, or a review."""

    html_url: str | None = None
    body: str | None = None
    state: str | None = None
    commit_id: str | None = None
    path: str | None = None


class Release(msgspec.Struct):
    """A release."""

    tag_name: str
    name: str | None = None
    html_url: str | None = None
    body: str | None = None


class Run(msgspec.Struct):
    """A run of a workflow."""

    name: str | None = None
    html_url: str | None = None
    conclusion: str | None = None
    head_branch: str | None = None


class Fork(msgspec.Struct):
    """A repository that was made from this one."""

    full_name: str
    html_url: str | None = None


class Payload(msgspec.Struct):
    """Everything that any event has; which of it, the header says."""

    repository: Repository | None = None
    sender: User | None = None
    action: str = ""
    ref: str | None = None
    ref_type: str | None = None
    compare: str | None = None
    commits: list[Commit] | None = None
    created: bool = False
    deleted: bool = False
    forced: bool = False
    issue: Thing | None = None
    pull_request: Thing | None = None
    discussion: Thing | None = None
    comment: Comment | None = None
    review: Comment | None = None
    release: Release | None = None
    workflow_run: Run | None = None
    forkee: Fork | None = None
    assignee: User | None = None
    requested_reviewer: User | None = None
    zen: str | None = None
    state: str | None = None
    context: str | None = None
    description: str | None = None
    target_url: str | None = None
    sha: str | None = None
