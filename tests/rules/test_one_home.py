"""An idea has one home: numbers that the database stores are written by name, and markup that the server writes comes from
one function.

The check reads the source line by line, Python and the SQL in it alike. Migrations are history and stay as they are.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "tertulia"

_IS = r"\s*(?:=|==|<>|!=|<=|>=|<|>|&|(?:not\s+)?in\b)\s*\(?\s*"
"""A comparison, an assignment, a default or a keyword argument, up to the number."""


class Idea(NamedTuple):
    """What must not be spelled out, except at home; and what to write instead."""

    pattern: str
    instead: str
    homes: tuple[str, ...]


MARKS, SQL = "conversations/read_state/marks.py", "conversations/read_state/statements.py"
IDEAS = {
    "a mark": Idea(rf"\b(?:flag|mark){_IS}\d|\b\d as (?:flag|mark)\b", "Mark", (MARKS,)),
    "a wildcard": Idea(rf"\b(?:wildcard|facts){_IS}[1-9]", "Wildcard or Facts", (MARKS,)),
    "whether there is a wildcard": Idea(rf"\bwildcard{_IS}0\b", "called()", (SQL,)),
    "a topic's policy": Idea(
        rf"\b(?:topic_)?policy{_IS}\d|\bpolicy, ?\d\)|visibility_policy: Literal\[\d", "TopicPolicy", (MARKS,)
    ),
    "when a topic is followed by itself": Idea(
        rf"automatically_\w+_policy\b(?:\"\]|.*\])?{_IS}\d|automatically_\w+_policy\", ?\d",
        "TopicTrigger",
        ("people/preferences/model.py",),
    ),
    "a role": Idea(
        r"(?i)role\b.*\b[12346]00\b|\b[12346]00\b.*\brole|\binvite_as\b.*\b[12346]00\b|\bwhen [12346]00 then\b",
        "Role or RoleNumber",
        ("kernel/auth.py",),
    ),
    "equal writings": Idea(r"unicodedata\.normalize\(", "normalized()", ("kernel/text.py",)),
    "taking an address apart": Idea(r"\burl(?:split|parse)\(", "split_url()", ("kernel/urls.py",)),
    "a type of bots": Idea(rf"\bbot_type(?:: int)?{_IS}\d|\b(?:GENERIC|WEBHOOK)_BOT\b", "BotType", ("kernel/auth.py",)),
    "the state of a thumbnail": Idea(rf"\bthumbnail{_IS}\d", "Thumbnail", ("files/uploads/model.py",)),
    "an address that everybody sees": Idea(rf"visibility(?:\(\w+\))?{_IS}1\b", "EVERYONE", ("kernel/auth.py",)),
    "the name of a flag": Idea(
        r"[\"'](?:\w*_?wildcard_mentioned|group_mentioned|has_alert_word|historical)[\"']",
        "flags_for() or MENTION_FLAGS",
        # Notifications give their reasons the same names.
        (
            MARKS,
            "notifications/concerns/model.py",
            "notifications/concerns/rules.py",
            "notifications/missed_mail/rules.py",
            "notifications/missed_mail/words/__init__.py",
        ),
    ),
    "whether a reader takes part": Idea(
        r"select from topic_participant where topic_participant\.|is_group_member\([^)]*, ?group_id\)\"",
        "takes_part() or in_group()",
        (SQL,),
    ),
    "the refusal of a channel": Idea(
        r"STREAM_DOES_NOT_EXIST|(?i:invalid channel (?:id|name))|There is no channel",
        "no_such_channel()",
        ("conversations/channels/rules.py",),
    ),
    "whether the web may look": Idea(
        r"\.(?:web_public_streams_enabled|enable_spectator_access)\b",
        "is_open_to_web()",
        # The state of POST /register names the operator's switch.
        ("organization/realms/web_access.py", "organization/realms/state.py"),
    ),
    "a silent mention": Idea(r"@_\*", "silent_mention() or silent_group_mention()", ("content/markup/writing.py",)),
    "a link to a channel": Idea(r"#\*\*\{", "channel_link()", ("content/markup/writing.py",)),
}


def spelled_out(path: str, text: str) -> list[str]:
    """Where a module spells out what has a home elsewhere, and what to write instead."""
    return [
        f"{path}:{number}: {idea} is spelled out; write {instead} ({homes[0]})"
        for idea, (pattern, instead, homes) in IDEAS.items()
        if path not in homes and re.search(pattern, text, re.MULTILINE)  # of most texts that is all
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]


def test_ideas_are_spelled_out_at_home_only() -> None:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if not name.startswith("migrations/"):
            found += spelled_out(name, path.read_text())
    assert found == []


def test_the_homes_are_there() -> None:
    assert [home for idea in IDEAS.values() for home in idea.homes if not (SOURCES / home).is_file()] == []


@pytest.mark.parametrize(
    "line",
    [
        'sql = "select from message_mark where user_id = $1 and flag = 3"',
        "delete from message_mark where flag in (3, 4)",
        "select ord, user_id, 3 as flag from mentioned",
        "HasMark(user_id=me, mark=1)",
        "array_agg(id) filter (where wildcard & 1 = 1)",
        "wildcard >= 2 and exists (select)",
        "if text.facts & 4:",
        "where message.wildcard > 0",
        "where topic_policy.policy not in (2, 3)",
        "policy in (1, 3)",
        "coalesce(had.policy, 0) <> 1",
        "visibility_policy: Literal[0, 1, 2, 3]",
        "if settings.automatically_follow_topics_policy == 1:",
        '_chosen("automatically_follow_topics_policy", 3)',
        "where account.role <= 200",
        "and guest.role = 600",
        "if caller.role == 400:",
        "Role = Literal[100, 200, 300, 400, 600]",
        "invite_as: RoleNumber = 400,",
        "    when 100 then 'owner'",
        "bot_type: int = 1,",
        "host = urlsplit(text).hostname",
        "if account.bot_type == 3:",
        "where is_waiting and thumbnail <> 1",
        "email_visibility(account) <= 1 as shows_email",
        'flags.append("stream_wildcard_mentioned")',
        "select from topic_participant where topic_participant.topic_id = message.topic_id",
        'who = f"@_**{caller.full_name}|{caller.user_id}**"',
        'f"the group @_*{group.name}*"',
        'f"a message (#**{channel}>{topic}**)"',
        'raise Refusal("Invalid channel ID")',
    ],
)
def test_the_check_finds_what_it_looks_for(line: str) -> None:
    (found, *_) = spelled_out("messaging/planted.py", f"first = None\n{line}\n")
    assert found.startswith("messaging/planted.py:2: ")


@pytest.mark.parametrize(
    "line",
    [
        "where user_id = $1 and flag = $2",
        "marks.flag = {Mark.MENTIONED}",
        "facts & {Facts.LINK} > 0",
        "policy in ({TopicPolicy.MUTED}, {TopicPolicy.FOLLOWED})",
        "gif_rating_policy: Literal[0, 1, 2, 3, 4] = 1",
        "where role <= $2",
        "account.role < {Role.GUEST}",
        "account.bot_type is null",
        '_PERSON = re.compile(r"@_?\\*\\*([^*]*)")',
    ],
)
def test_the_check_lets_names_and_parameters_pass(line: str) -> None:
    assert spelled_out("messaging/planted.py", line) == []
