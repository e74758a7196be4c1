"""The parts of GitLab's payloads that are read."""

import msgspec


class User(msgspec.Struct):
    """Somebody."""

    name: str | None = None
    username: str | None = None


class Project(msgspec.Struct):
    """Where it happened."""

    name: str
    web_url: str | None = None


class Commit(msgspec.Struct):
    """A commit."""

    id: str
    message: str = ""
    url: str | None = None


class Attributes(msgspec.Struct):
    """What an issue, a merge request, a note, a pipeline or a page is."""

    iid: int | None = None
    id: int | None = None
    title: str | None = None
    url: str | None = None
    action: str | None = None
    description: str | None = None
    note: str | None = None
    noteable_type: str | None = None
    ref: str | None = None
    status: str | None = None


class Thing(msgspec.Struct):
    """What a note is about."""

    iid: int | None = None
    title: str | None = None


class Payload(msgspec.Struct):
    """Everything that any event has; which of it, `object_kind` says."""

    object_kind: str
    project: Project | None = None
    user: User | None = None
    user_name: str | None = None
    ref: str | None = None
    before: str | None = None
    after: str | None = None
    checkout_sha: str | None = None
    total_commits_count: int | None = None
    commits: list[Commit] | None = None
    object_attributes: Attributes | None = None
    issue: Thing | None = None
    merge_request: Thing | None = None
    commit: Commit | None = None
    build_name: str | None = None
    build_status: str | None = None
    action: str | None = None
    tag: str | bool | None = None
    name: str | None = None
    url: str | None = None
    description: str | None = None
