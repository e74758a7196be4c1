"""The programs that come with PyPI's `zulip`: `zulip-send` and `zulip-api`."""

import ast
from pathlib import Path

import pytest

from tests.clients.program import clean_environment, finished, write_rc
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, unique

pytestmark = [pytest.mark.system, pytest.mark.clients]


@pytest.mark.client("`zulip-send`", "a message to a channel, and from standard input to two addresses", package="zulip")
def test_zulip_send_sends_to_a_channel_and_to_people(bots: Path, address: str, stage: Stage, folder: Path) -> None:
    sender, first, second = stage.speaker(), stage.speaker(), stage.speaker()
    channel = stage.channel(sender, first)
    write_rc(folder / ".zuliprc", address, sender.user)
    env = clean_environment(folder)
    content = unique("Something is rotten")
    in_channel = ("--stream", channel.name, "--subject", "castle", "-m", content)
    assert finished([bots / "zulip-send", *in_channel], env=env).returncode == 0
    [found] = first.window(before=1)["messages"]
    assert (found["content"], found["subject"], found["stream_id"]) == (
        f"<p>{content}</p>",
        "castle",
        channel.stream_id,
    )
    sent = finished([bots / "zulip-send", first.email, second.email], env=env, stdin=content)
    assert sent.returncode == 0, sent.stderr
    [found] = second.window(before=1)["messages"]
    assert found["content"] == f"<p>{content}</p>"
    assert sorted(it["id"] for it in found["display_recipient"]) == sorted([sender.id, first.id, second.id])
    refused = finished([bots / "zulip-send", "nobody@example.com", "-m", content], env=env)
    assert refused.returncode == 1


@pytest.mark.client("`zulip-api`", "send, edit, react, history, subscriptions, delete", package="zulip")
def test_zulip_api_commands_answer(bots: Path, address: str, stage: Stage, folder: Path) -> None:
    me = stage.speaker(stage.server.owner)
    channel = stage.channel(me)
    write_rc(folder / "zuliprc", address, me.user)

    def command(*arguments: str) -> Json:
        done = finished([bots / "zulip-api", *arguments], env=clean_environment(folder))
        assert done.returncode == 0, done.stdout + done.stderr
        answer = ast.literal_eval(done.stdout.splitlines()[-1].removeprefix("INFO:zulip-cli:"))
        assert isinstance(answer, dict)
        return answer

    sent = str(command("send-message", "--stream", channel.name, "--subject", "lunch", "-m", "Soup")["id"])
    command("update-message", sent, "-m", "Soup, hot")
    command("add-reaction", sent, "octopus")
    assert [it["emoji_name"] for it in reactions(me, int(sent))] == ["octopus"]
    command("remove-reaction", sent, "octopus")
    assert reactions(me, int(sent)) == []
    assert len(command("get-message-history", sent)["message_history"]) == 2
    assert channel.name in [it["name"] for it in command("get-subscriptions")["subscriptions"]]
    command("mark-all-as-read")
    command("delete-message", sent)


def reactions(speaker: Speaker, message_id: int) -> list[Json]:
    found: list[Json] = speaker.message(message_id)["reactions"]
    return found
