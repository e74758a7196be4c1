"""Asking everything that can be asked about a message, and comparing with what is said of one that nobody has written."""

from collections.abc import Collection

from tests.features.tables.privacy_table import CHANNEL_PROBES, MESSAGE_PROBES, Target
from tests.harness.talk import Speaker

NOBODY_MADE = Target(987_654_321, "no such channel", 987_654_322, "no such topic")


def check_message_is_gone(speaker: Speaker, target: Target, *, besides: Collection[str] = ()) -> None:
    """Every endpoint that takes a message answers as if there were none. `besides`: endpoints with an answer of their own."""
    for key, probe in MESSAGE_PROBES.items():
        if key in besides:
            continue
        blank, reply = probe.ask(speaker, NOBODY_MADE), probe.ask(speaker, target)
        told = f"{key}: {reply.status_code} {reply.text[:300]}"
        assert reply.status_code == blank.status_code, told
        assert target.hide(reply.text) == NOBODY_MADE.hide(blank.text), told


def check_channel_is_gone(speaker: Speaker, target: Target) -> None:
    """Every endpoint that takes a channel answers as if there were none."""
    for key, probe in CHANNEL_PROBES.items():
        blank, reply = probe.ask(speaker, NOBODY_MADE), probe.ask(speaker, target)
        told = f"{key}: {reply.status_code} {reply.text[:300]}"
        assert reply.status_code == blank.status_code, told
        assert target.hide(reply.text) == NOBODY_MADE.hide(blank.text), told
