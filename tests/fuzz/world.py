"""Who asks, and what there is to be asked about: an organization for each role, with something of everything in it.

Each role has an organization of its own, so that what one does to it does not end the others' runs.
"""

import json
from pathlib import Path
from typing import Any

from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker

ROLES = ("owner", "administrator", "moderator", "member", "guest", "bot", "anonymous")
ENDINGS = ("deactivate_oneself", "regenerate_api_key", "revoke_api_key", "log_out_everywhere")
"""By these a caller loses their own key, and the rest of the run would be about nothing but 401: only nobody tries them."""
SETTINGS = {
    "TERTULIA_WEB_PUBLIC_STREAMS_ENABLED": "true",
    "TERTULIA_USER_LISTS_MIB": "4",  # full after a few rounds: from then on memory is level
}


def start(folder: Path) -> OwnServer:
    """A server whose organizations may be open to the web."""
    return OwnServer.start(folder, env=SETTINGS)


def furnish(stage: Stage, realm: Realm, role: str) -> tuple[Speaker | None, dict[str, list[Any]]]:
    """Who asks, and what there is to be asked about."""
    settings = "update realm set settings = settings || '{\"enable_spectator_access\": true}' where id = %s"
    stage.sql(settings, realm.id)
    speakers = dict(zip(ROLES, realm.all, strict=False)) | {"bot": realm.bot(realm.owner)}
    speaker = speakers.get(role)
    people = list(dict.fromkeys([*realm.all, *([speaker] if speaker else [])]))
    channel, private = (stage.channel(*people, realm_id=realm.id) for _ in range(2))
    stage.sql("update channel set is_web_public = true where id = %s", channel.stream_id)
    sent = [realm.owner.send(channel.stream_id, topic, f"of {topic}") for topic in ("tea", "", "coffee")]
    sent += [one.send(private.stream_id, "tea", "/poll Tea?\nyes") for one in people]
    group = realm.owner.post("user_groups/create", name="tea", description="", members=[realm.member.id])
    others = [stage.user(realm_id=realm.id).user_id for _ in range(3)]
    world: dict[str, list[Any]] = {
        **each("message_id message anchor", *sent),
        **each("stream_id new_stream_id", channel.stream_id, private.stream_id),
        **each("user_id muted_user_id bot_id", *others),
        **each("topic topic_name", "tea", "", "coffee"),
        **each("user_group_id group_id", group["group_id"]),
        **each("messages message_ids msg_ids", sent[:1], sent, []),
        "to": [channel.stream_id, channel.name, others[:1], json.dumps(others[:2])],
        "type": ["stream", "channel", "direct", "private"],
        "emoji_name": ["tea", "tertulia"],
        "subscriptions": [[channel.name], [{"name": channel.name}], ["new channel"]],
        "narrow": [[], [["stream", channel.name]], [{"operator": "channels", "operand": "web-public"}]],
        "client_gravatar": [False],
        "content": ["Hello", "/poll Tea?", "@**all** #**tea>tea** :tea:", "```quote\nx\n```"],
        **_own(speaker),
    }
    return speaker, world


def end_queues(stage: Stage, realm: Realm) -> None:
    """Of everybody in an organization. Some were asked to wait for a week, and as long the organization's events are at hand."""
    people = [user_id for (user_id,) in stage.sql("select id from account where realm_id = %s", realm.id)]

    async def tell(tx: Transaction) -> None:
        tx.emit(realm.id, record(Audience(), "ends", {}, ends=tuple(people)))

    stage.write(tell)


def _own(speaker: Speaker | None) -> dict[str, list[Any]]:
    """What the caller has made before."""
    if speaker is None:
        return {}
    state: Json = speaker.post("register", fetch_event_types=["message"], event_types=["message"])
    own: dict[str, list[Any]] = {"queue_id": [state["queue_id"]], "last_event_id": [state["last_event_id"]]}
    own["dont_block"] = [True]
    draft = {"type": "", "to": [], "topic": "", "content": "tea"}
    made = speaker.request("POST", "drafts", drafts=[draft, draft]).json()  # bots have none
    own["draft_id"] = made.get("ids", [])
    return own


def each(names: str, *values: Any) -> dict[str, list[Any]]:
    """The same values for several parameters."""
    return {name: list(values) for name in names.split()}
