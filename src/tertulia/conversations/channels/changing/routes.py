"""Endpoint that changes a channel."""

from typing import Annotated, Any

from tertulia.conversations.channels.archiving.actions import unarchive
from tertulia.conversations.channels.changing.actions import change_channel, hold_channel
from tertulia.conversations.channels.changing.rules import Given, Plan
from tertulia.conversations.channels.creation import Retention, TopicsPolicy
from tertulia.conversations.channels.rules import ChannelId
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import Wire, decode_json, patch
from tertulia.kernel.errors import Refusal
from tertulia.kernel.extra_parameters import extra_parameters
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.settings import CHANNEL_SETTINGS
from tertulia.organization.groups.values import ChangedValue


def _read_folder(sent: Any) -> Given:
    value = decode_json(sent) if isinstance(sent, str) else sent
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError("is neither an integer nor null")
    return Given(value)


Folder = Annotated[Given, Wire(_read_folder, {"type": ["integer", "null"]})]


@patch("/streams/{stream_id}")
@extra_parameters(dict.fromkeys(CHANNEL_SETTINGS, ChangedValue))
async def update_channel(
    caller: Person,
    tx: Transaction,
    server: Settings,
    *,
    stream_id: ChannelId,
    new_name: str | None = None,
    description: str | None = None,
    is_private: bool | None = None,
    is_web_public: bool | None = None,
    history_public_to_subscribers: bool | None = None,
    is_default_stream: bool | None = None,
    message_retention_days: Retention | None = None,
    topics_policy: TopicsPolicy | None = None,
    folder_id: Folder | None = None,
    is_archived: bool | None = None,
    **chosen: Any,
) -> None:
    """Change a channel, all or nothing; for administrators and those who administer the channel.

    `folder_id` null takes the channel out of its folder; `is_archived` false unarchives it (true has no effect).
    """
    plan = Plan(
        new_name=new_name,
        description=description,
        is_private=is_private,
        is_web_public=is_web_public,
        history_public_to_subscribers=history_public_to_subscribers,
        is_default_stream=is_default_stream,
        message_retention_days=message_retention_days,
        topics_policy=topics_policy,
        folder_id=folder_id,
        is_archived=is_archived,
        settings={setting: change for setting, change in chosen.items() if change is not None},
    )
    if plan == Plan():
        raise Refusal("Nothing to change was sent.")
    channel = await hold_channel(tx, caller, stream_id)
    if is_archived is False:
        channel = await unarchive(tx, caller, channel)
    await change_channel(tx, caller, channel, plan, server)
