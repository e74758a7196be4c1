"""An organization with something of every kind that an archive has."""

import io
import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tertulia.archives.form.kinds import KINDS
from tests.harness.channels import make
from tests.harness.command import tertulia
from tests.harness.files import upload
from tests.harness.picture_server import picture
from tests.harness.realm import Realm
from tests.harness.server import Channel, OwnServer, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import check_success


class World(NamedTuple):
    """Who and what is in it."""

    realm: Realm
    public: Channel
    shared: Channel
    protected: Channel
    server: OwnServer

    def export(self, file: Path, scope: str = "everything") -> "Archive":
        done = tertulia("export", self.realm.subdomain, str(file), "--scope", scope, env=self.server.environment())
        assert done.returncode == 0, done.stderr
        return Archive.read(file)


class Archive(NamedTuple):
    """An archive as tar and JSON alone show it."""

    file: Path
    entries: dict[str, bytes]
    manifest: dict[str, Any]

    @staticmethod
    def read(file: Path) -> "Archive":
        with tarfile.open(file) as tar:
            entries = {}
            for member in tar:
                content = tar.extractfile(member)
                assert content is not None
                entries[member.name] = content.read()
        return Archive(file, entries, json.loads(entries["manifest.json"]))

    def lines(self, kind: str) -> list[dict[str, Any]]:
        parts = sorted(name for name in self.entries if name.startswith(f"{kind}/"))
        return [json.loads(line) for name in parts for line in self.entries[name].splitlines()]

    def text(self) -> bytes:
        return b"\n".join(content for name, content in self.entries.items() if name.split("/")[0] in KINDS)


@pytest.fixture(scope="session")
def world(server: Server, backstage: Backstage) -> Iterator[World]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    stage = Stage(server, backstage)
    realm = Realm(stage)
    public = make(realm, *realm.all[:4])
    shared, protected = (make(realm, *realm.all[:2], kind=kind) for kind in ("shared", "protected"))
    made = World(realm, public, shared, protected, server)
    _furnish(made)
    _talk(made)
    _choose(made)
    yield made
    stage.close()


def _furnish(world: World) -> None:
    """What the organization has."""
    owner, member = world.realm.owner, world.realm.member
    check_success(owner.http.post("realm/emoji/party", files={"f": ("party.png", picture(40, 40))}))
    check_success(member.http.post("users/me/avatar", files={"f": ("me.png", picture(40, 40))}))
    check_success(owner.http.post("realm/icon", files={"f": ("icon.png", picture(40, 40))}))
    owner.post("realm/filters", pattern=r"#(?P<n>[0-9]+)", url_template="https://example.com/{n}")
    owner.post("realm/playgrounds", name="Try", pygments_language="Python", url_template="https://example.com/{code}")
    field = owner.post("realm/profile_fields", name="Town", field_type=1)["id"]
    check_success(member.request("PATCH", "users/me/profile_data", data=[{"id": field, "value": "Lisbon"}]))
    owner.post("channel_folders/create", name="Work", description="What we do")
    group = owner.post("user_groups/create", name="crew", description="Us", members=[owner.id, member.id])["group_id"]
    named = {"can_send_message_group": {"new": {"direct_members": [owner.id, member.id], "direct_subgroups": [group]}}}
    check_success(owner.request("PATCH", f"streams/{world.public.stream_id}", **named))
    check_success(owner.request("PATCH", "realm", description="Where we **talk**"))
    world.realm.bot(owner)


def _talk(world: World) -> None:
    """What is said, and what hangs on it."""
    realm, public = world.realm, world.public
    owner, member = realm.owner, realm.member
    file = upload(owner, "plan.txt", b"the plan")
    first = owner.send(public.stream_id, "plans", f"Open: **bold** @**|{member.id}** #12 :party: [plan]({file})")
    member.post(f"messages/{first}/reactions", emoji_name="tada")
    owner.post(f"messages/{first}/reactions", emoji_name="party")
    owner.post(f"messages/{first}/pin")
    edited = member.send(public.stream_id, "plans", "frist text")
    check_success(member.request("PATCH", f"messages/{edited}", content="first text"))
    check_success(owner.request("PATCH", f"messages/{edited}", topic="ideas", propagate_mode="change_all"))
    moved = owner.send(world.shared.stream_id, "closed", "from a closed room")
    check_success(owner.request("PATCH", f"messages/{moved}", stream_id=public.stream_id, propagate_mode="change_one"))
    poll = owner.send(public.stream_id, "ideas", "/poll Tea?\nYes\nNo")
    vote = json.dumps({"type": "vote", "key": "canned,0", "vote": 1})
    member.post("submessage", message_id=poll, msg_type="widget", content=vote)
    gone = owner.send(public.stream_id, "ideas", "to be deleted")
    owner.delete(f"messages/{gone}")
    owner.send(
        world.shared.stream_id, "closed", "secret of the shared channel " + upload(owner, "s.txt", b"shared file")
    )
    owner.send(world.protected.stream_id, "before", "secret before the administrator")
    owner.send([member.id], content="secret of two people")
    member.send([owner.id, realm.moderator.id], content="secret of three people")
    _link(world, first)


def _link(world: World, first: int) -> None:
    """Texts with ids in them."""
    owner, member, name = world.realm.owner, world.realm.member, world.public.name
    place = f"#narrow/channel/{world.public.stream_id}-x/topic/plans/near/{first}"
    here = world.server.url.replace("://", f"://{world.realm.subdomain}.")
    shown = upload(owner, "shown.png", picture(300, 200))
    links = f"[a](/{place}) {here}/{place} https://example.com/{place} #**{name}>plans@{first}** #**{name}>ideas**"
    owner.send(world.public.stream_id, "links", f"{links} @*crew* [shown.png]({shown})")
    group = f"#narrow/dm/{owner.id},{member.id}-group/near/{first}"
    owner.send([member.id], content=f"@**Somebody New|{member.id}** {group} ```\nprint(1)\n``` @**all**")
    poll = owner.send(world.public.stream_id, "links", "/poll Cake?")
    for told in (
        {"type": "new_option", "idx": 1, "option": "Yes"},
        {"type": "vote", "key": f"{member.id},1", "vote": 1},
    ):
        member.post("submessage", message_id=poll, msg_type="widget", content=json.dumps(told))
    kinds = owner.post("realm/profile_fields", name="Mentor", field_type=6)["id"]
    check_success(member.request("PATCH", "users/me/profile_data", data=[{"id": kinds, "value": [owner.id]}]))
    check_success(owner.request("PATCH", "realm", new_stream_announcements_stream_id=world.public.stream_id))


def _choose(world: World) -> None:
    """What is somebody's own."""
    member, owner, public = world.realm.member, world.realm.owner, world.public.stream_id
    newest = member.window(before=1)["messages"][0]["id"]
    member.post("messages/flags", messages=[newest], op="add", flag="starred")
    member.post("users/me/alert_words", alert_words=["word of the member"])
    member.post(f"users/me/muted_users/{world.realm.moderator.id}")
    member.post("users/me/status", status_text="away", emoji_name="palm_tree")
    member.post("user_topics", stream_id=public, topic="ideas", visibility_policy=3)
    due = int(time.time()) + 9000
    for speaker in (member, owner):
        draft = {
            "type": "stream",
            "to": [public],
            "topic": "plans",
            "content": f"draft of {speaker.id}",
            "timestamp": 1,
        }
        speaker.post("drafts", drafts=[draft])
    member.post("saved_snippets", title="Hello", content="Hello, all")
    later = {"type": "channel", "to": public, "topic": "plans", "content": "later"}
    member.post("scheduled_messages", **later, scheduled_delivery_timestamp=due)
    member.post("reminders", message_id=newest, scheduled_delivery_timestamp=due, note="look")
    check_success(member.request("PATCH", "settings", twenty_four_hour_time=True))
    member.post(
        "users/me/subscriptions/properties",
        subscription_data=[{"stream_id": public, "property": "color", "value": "#123456"}],
    )


@pytest.fixture(scope="session")
def everything(world: World, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """All of it. Not to be changed."""
    return world.export(tmp_path_factory.mktemp("export") / "all.tar")


def repacked(entries: dict[str, bytes], file: Path) -> Path:
    """A tar with these entries."""
    with tarfile.open(file, "w") as tar:
        for name, content in entries.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    return file
