"""`zulip-term` 0.7.0 on a real screen: what a person sees and does, and what the others see of it.

One terminal runs for all tests of this file, as it would for a day; each begins in the view of all messages. There are more
messages than the screen has lines: on a screen with room left this version sometimes ends with an error of its own when
a message arrives while it draws ("Listbox contents too short"), whatever the server. Other errors of its own are a race of
its start (`begins`), and one of a flag that changes while it goes to another view (`arrived`).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tertulia.people.users.actions import create_api_key
from tests.clients.front import Front
from tests.clients.program import clean_environment, write_rc
from tests.clients.tmux import Screen
from tests.harness.authenticator import give_factor
from tests.harness.browser import person
from tests.harness.passwords import PASSWORD
from tests.harness.server import Channel, OwnServer, User
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Speaker, unique

pytestmark = [pytest.mark.system, pytest.mark.clients]
TERMINAL = "Terminal client `zulip-term`"
SEEDED = "The soup is ready"
UNREAD = r"All messages +\[a\] +[1-9]"
FIRST_ENTRY = "All messages     [a]"
ALL = "All messages  Search [/]:"
NOTICE = " NOTICE "
MORE_THAN_A_SCREEN = 40


class Seat(NamedTuple):
    """Somebody at the terminal, and somebody elsewhere."""

    screen: Screen
    front: Front
    me: Speaker
    other: Speaker
    channel: Channel


@pytest.fixture(scope="module")
def running(
    server: OwnServer, backstage: Backstage, address: str, terminal: Path, shared_folder: Path
) -> Iterator[Seat]:
    stage = Stage(server, backstage)
    me, other = stage.speaker(), stage.speaker()
    channel = stage.channel(me, other)
    other.send([me.id], content="Hungry?")  # in an empty view its keys do nothing
    for number in range(MORE_THAN_A_SCREEN):
        other.send(channel.name, "lunch", f"Spoon {number}")
    other.send(channel.name, "lunch", SEEDED)
    me.post("mark_all_as_read")  # it begins at the first unread message
    with Front(address) as front:
        rc = write_rc(shared_folder / "zuliprc", front.url, me.user)
        command = [terminal / "zulip-term", "--config-file", rc, "--color-depth", "16"]
        with started(command, shared_folder, front) as screen:
            screen.press("/", "Escape")  # into the messages: it begins at the list of channels
            screen.until(ALL)
            yield Seat(screen, front, me, other, channel)
    stage.close()


@contextmanager
def started(command: Sequence[object], folder: Path, front: Front, shown: str = SEEDED) -> Iterator[Screen]:
    """The client, showing its messages, or something else of its first screen."""
    with Screen(command, clean_environment(folder), folder) as screen:
        begins(screen, front, shown)
        yield screen


def begins(screen: Screen, front: Front, shown: str) -> None:
    """It asks for presence in a thread while it starts. An answer between two of its lines, after it has a view and before
    it can draw, ends that thread with an error that may stand over what it has drawn, whatever the server. On a busy machine
    that is most of the time: so that answer comes when it has drawn."""
    with front.holding("POST /api/v1/users/me/presence"):
        screen.until(shown)


@pytest.fixture
def seat(running: Seat, shared_folder: Path) -> Iterator[Seat]:
    """In the view of all messages; nothing may have gone wrong when the test is over."""
    if NOTICE in running.screen.text():  # what went wrong in the test before
        running.screen.press("Escape")
    show_all(running)
    before = complaints(shared_folder)
    yield running
    assert complaints(shared_folder) == before


def complaints(folder: Path) -> dict[Path, str]:
    """Where it writes what went wrong."""
    return {path: path.read_text() for path in folder.rglob("zulip-terminal-*.log")}


def show_all(seat: Seat) -> None:
    """Only from elsewhere: what arrives while it builds the same view again would be lost to the view."""
    if ALL not in seat.screen.text():
        seat.screen.press("a")
        seat.screen.until(ALL)


def narrowed(seat: Seat, title: str, shown: set[str], without: str | None = None) -> None:
    """Until the view of this title shows what it should, and not the other: the title is drawn before the messages."""
    seat.screen.until(
        lambda text: all(part in text for part in (title, *shown)) and (without is None or without not in text)
    )


def arrived(seat: Seat, to: object, topic: str | None = None) -> tuple[int, str]:
    """Something the other has written, once it is on the screen, has the focus and counts as read: its id and its text."""
    content = unique("written")
    message_id = seat.other.send(to, topic, content)
    seat.screen.until(lambda text: bool(re.search(UNREAD, text)))
    seat.screen.until_pressing("G", content)
    seat.screen.until(lambda text: not re.search(UNREAD, text))
    return message_id, content


@pytest.mark.client(TERMINAL, "starts, and shows the messages there are", package="zulip-term")
def test_it_starts_and_shows_messages(seat: Seat) -> None:
    screen = seat.screen.until(SEEDED)
    assert f"({seat.me.email})" in screen
    assert f"{seat.channel.name} ▶  lunch" in screen
    assert f"# {seat.channel.name}" in screen
    seat.front.until_asked("GET /api/v1/events")


@pytest.mark.client(
    TERMINAL, "a live message is counted and appears, one's own from elsewhere too", package="zulip-term"
)
def test_a_live_message_appears(seat: Seat) -> None:
    arrived(seat, seat.channel.name, "lunch")
    content = unique("From my telephone")
    seat.me.send(seat.channel.name, "lunch", content)
    seat.screen.until_pressing("G", content)


@pytest.mark.client(TERMINAL, "a typed reply arrives", package="zulip-term")
def test_a_reply_arrives(seat: Seat) -> None:
    arrived(seat, seat.channel.name, "lunch")
    content = unique("Coming")
    replied(seat, content)
    found = seat.other.window(before=1)["messages"][-1]
    assert (found["sender_id"], found["content"], found["subject"]) == (seat.me.id, f"<p>{content}</p>", "lunch")
    assert found["client"].startswith("ZulipTerminal")


def replied(seat: Seat, content: str) -> None:
    seat.screen.press("r")
    seat.screen.until(lambda text: bool(re.search(rf"# {seat.channel.name} +▶ lunch", text)))
    seat.screen.type(content)
    seat.screen.until(content)
    sent = seat.front.count("POST /api/v1/messages")
    seat.screen.press("C-d")
    seat.front.until_asked("POST /api/v1/messages", sent + 1)
    seat.screen.press("Escape")
    seat.screen.until(lambda text: not re.search(rf"# {seat.channel.name} +▶ lunch", text))
    seat.screen.until_pressing("G", f"▒ {content}")


@pytest.mark.client(TERMINAL, "a message of one's own is edited", package="zulip-term")
def test_a_message_is_edited(seat: Seat) -> None:
    arrived(seat, seat.channel.name, "lunch")
    content = unique("Comming")
    replied(seat, content)
    seat.screen.press("e")
    seat.screen.until("Also change later messages")
    seat.screen.press("C-u")
    seat.screen.until(lambda text: text.count(content) == 1)
    better = content.replace("mm", "m")
    seat.screen.type(better)
    seat.screen.until(better)
    seat.screen.press("C-d")
    seat.front.until_asked("PATCH /api/v1/messages/")
    seat.screen.until_pressing("G", f"EDITED ▒ {better}")
    assert seat.other.window(before=1)["messages"][-1]["content"] == f"<p>{better}</p>"


@pytest.mark.client(TERMINAL, "a reaction is added and taken back, and that of another is shown", package="zulip-term")
def test_a_reaction_is_added_and_removed(seat: Seat) -> None:
    message_id, _ = arrived(seat, seat.channel.name, "lunch")
    seat.screen.press("+")
    seat.screen.until_pressing("G", ":thumbs_up: You")
    assert [it["user_id"] for it in seat.other.message(message_id)["reactions"]] == [seat.me.id]
    seat.screen.press("+")
    seat.screen.until_gone(":thumbs_up: You")
    assert seat.other.message(message_id)["reactions"] == []
    seat.other.post(f"messages/{message_id}/reactions", emoji_name="octopus")
    seat.screen.until_pressing("G", ":octopus:")
    seat.other.delete(f"messages/{message_id}/reactions", emoji_name="octopus")
    seat.screen.until_gone(":octopus:")


@pytest.mark.client(TERMINAL, "a message is starred", package="zulip-term")
def test_a_message_is_starred(seat: Seat) -> None:
    message_id, content = arrived(seat, seat.channel.name, "lunch")
    seat.screen.press("*")
    seat.screen.until(lambda text: bool(re.search(r"Starred messages \[f\] +1 ", text)))
    assert "starred" in seat.me.message(message_id)["flags"]
    seat.screen.press("f")
    narrowed(seat, "Starred messages  Search [/]:", {content}, without=SEEDED)


@pytest.mark.client(TERMINAL, "words are searched for", package="zulip-term")
def test_words_are_searched_for(seat: Seat) -> None:
    _, content = arrived(seat, seat.channel.name, "lunch")
    seat.screen.press("/")
    seat.screen.enter("soup")
    narrowed(seat, "Search Results", {SEEDED}, without=content)


@pytest.mark.client(TERMINAL, "narrows to a channel, a topic, and direct messages", package="zulip-term")
def test_it_narrows(seat: Seat) -> None:
    _, elsewhere = arrived(seat, seat.channel.name, "dinner")
    seat.screen.press("s")
    narrowed(seat, f"{seat.channel.name}  Search [/]:", {elsewhere, SEEDED})
    seat.screen.press("S")
    narrowed(seat, f"{seat.channel.name}: topic narrow", {elsewhere}, without=SEEDED)
    show_all(seat)
    _, direct = arrived(seat, [seat.me.id])
    seat.screen.press("P")
    narrowed(seat, "All private messages", {direct}, without=elsewhere)


@pytest.mark.client(TERMINAL, "shows what is known of a message", package="zulip-term")
def test_it_shows_what_is_known(seat: Seat) -> None:
    arrived(seat, seat.channel.name, "lunch")
    seat.screen.press("i")
    screen = seat.screen.until("Message Information")
    assert seat.other.email in screen
    seat.screen.press("Escape")
    seat.screen.until_gone("Message Information")


@pytest.mark.client(TERMINAL, "shows what is known of a channel", package="zulip-term")
def test_it_shows_what_is_known_of_a_channel(seat: Seat) -> None:
    seat.screen.press("q")
    seat.screen.type(seat.channel.name)
    seat.screen.press("Enter", "i")
    screen = seat.screen.until("Stream Details")
    assert re.search(rf"Stream ID +{seat.channel.stream_id}", screen)
    seat.screen.press("Escape")
    seat.screen.until_gone("Stream Details")
    seat.screen.press("/", "Escape")
    seat.screen.until(ALL)


@pytest.mark.client(TERMINAL, "first run without an rc file: logs in with a password", package="zulip-term")
def test_the_first_run_asks_for_the_password(server: OwnServer, front: Front, terminal: Path, folder: Path) -> None:
    user = server.members[1]
    assert user.password
    rc = folder / "new-zuliprc"
    with Screen([terminal / "zulip-term", "--config-file", rc], clean_environment(folder), folder) as screen:
        screen.until("Zulip URL:")
        screen.enter(front.url)
        screen.until("Email")
        screen.enter(user.email)
        screen.until("Password")
        screen.enter(user.password)
        begins(screen, front, FIRST_ENTRY)
    assert f"email={user.email}" in rc.read_text()
    with started([terminal / "zulip-term", "--config-file", rc], folder, front, FIRST_ENTRY) as screen:
        assert f"({user.email})" in screen.text()


@pytest.mark.client(TERMINAL, "does not log in with a password where there is a second factor", package="zulip-term")
def test_with_a_second_factor_it_takes_a_key_and_no_password(
    stage: Stage, front: Front, terminal: Path, folder: Path
) -> None:
    user = person(stage)
    give_factor(stage, user.user_id)
    rc = folder / "careful-zuliprc"
    with Screen([terminal / "zulip-term", "--config-file", rc], clean_environment(folder), folder) as screen:
        screen.until("Zulip URL:")
        screen.enter(front.url)
        screen.until("Email")
        screen.enter(user.email)
        screen.until("Password")
        screen.enter(PASSWORD)
        screen.until("Incorrect Email")
        assert not rc.exists()
    key = stage.write(lambda tx: create_api_key(tx, user.user_id, "zulip-term"))
    # Without any channel and message it crashes at every server.
    speaker = stage.speaker(User(user.user_id, user.email, user.password, key, user.role))
    speaker.send(stage.channel(speaker).name, "tea", "Hello")
    rc.write_text(f"[api]\nemail={user.email}\nkey={key}\nsite={front.url}\n")
    rc.chmod(0o600)
    with started([terminal / "zulip-term", "--config-file", rc], folder, front, FIRST_ENTRY):
        pass


@pytest.mark.client(TERMINAL, "Ctrl-C ends it, and its event queue with it", package="zulip-term")
def test_it_says_good_bye(seat: Seat) -> None:
    assert seat.front.count("DELETE /api/v1/events") == 0
    seat.screen.press("C-c")
    seat.front.until_asked("DELETE /api/v1/events")
    assert "Traceback" not in seat.screen.until_ended()
