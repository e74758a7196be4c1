"""Polls and to-do lists: what a message that starts with `/poll` or `/todo` opens."""

import re

from tertulia.content.markup.model import Widget

_COMMAND = re.compile(r"/(poll|todo)(?:[ \t]+([^\n]*))?(?:\n|\Z)")
_MARKER = re.compile(r"\s*[-*]?\s*")


def find_widget(content: str) -> Widget | None:
    """The poll or to-do list that a message's text asks for."""
    command = _COMMAND.match(content)
    if command is None:
        return None
    heading = (command[2] or "").strip()
    lines = [
        cleaned for line in content[command.end() :].split("\n") if (cleaned := _MARKER.sub("", line, count=1).strip())
    ]
    if command[1] == "poll":
        return Widget("poll", {"question": heading, "options": lines})
    return Widget("todo", {"task_list_title": heading, "tasks": [_task(line) for line in lines]})


def _task(line: str) -> dict[str, str]:
    task, _, note = line.partition(": ")
    return {"task": task.strip(), "desc": note.strip()}
