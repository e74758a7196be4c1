"""What the demo people have said, sent through the API like any other message.

Each message carries an Idempotency-Key: when a start was interrupted, the next one says the rest and nothing twice.
"""

import base64
import http.client
import json
from urllib.parse import urlencode

from tertulia.cli.demo import Demo
from tertulia.cli.errors import CommandFailed
from tertulia.kernel.urls import split_url

_TALK = (
    ("ines", "general", "welcome", "Welcome to the café! Every channel has topics; pick one, or start your own."),
    ("kofi", "general", "welcome", "Good to be here. Does a new topic need anybody's blessing?"),
    ("mairead", "general", "welcome", "Only a name. Write it above your message and it exists."),
    ("yuki", "kitchen", "coffee machine", "The machine asks to be descaled again."),
    ("anton", "kitchen", "coffee machine", "I did it on Monday. It is lonely, not dirty."),
    ("lea", "website", "launch date", "Can we say the 14th in public?"),
    ("kofi", "website", "launch date", "If the sign-up form is finished by Friday, yes."),
    ("builder-bot", "website", "builds", "Build 128 passed in 4 minutes."),
    ("gil", "website", "launch date", "I can write the announcement. Who reads it over?"),
    ("ines", "board", "budget", "The first quarter is paid for. Details tomorrow."),
)
_DIRECT = (
    ("lea", "kofi", "Do you have a moment for the form this afternoon?"),
    ("kofi", "lea", "At three, with cake."),
)


def say_all(url: str, demo: Demo) -> None:
    """Send everything, in order, over one connection."""
    place = split_url(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    channels = {channel.name: channel.stream_id for channel in demo.channels}
    keys = {user.email.partition("@")[0]: user for user in demo.users}
    try:
        for number, (who, channel, topic, content) in enumerate(_TALK):
            fields = {"type": "channel", "to": str(channels[channel]), "topic": topic, "content": content}
            _send(connection, keys[who].email, keys[who].api_key, fields, f"demo-{number}")
        for number, (who, to, content) in enumerate(_DIRECT, len(_TALK)):
            fields = {"type": "direct", "to": json.dumps([keys[to].user_id]), "content": content}
            _send(connection, keys[who].email, keys[who].api_key, fields, f"demo-{number}")
    finally:
        connection.close()


def _send(connection: http.client.HTTPConnection, email: str, key: str, fields: dict[str, str], once: str) -> None:
    headers = {
        "Authorization": "Basic " + base64.b64encode(f"{email}:{key}".encode()).decode(),
        "Content-Type": "application/x-www-form-urlencoded",
        "Idempotency-Key": once,
    }
    body = urlencode({**fields, "read_by_sender": "true"})
    connection.request("POST", "/api/v1/messages", body, headers)
    reply = connection.getresponse()
    answer = reply.read()
    if reply.status != 200:
        raise CommandFailed(f"The demo talk could not be sent: {answer.decode(errors='replace').strip()}")
