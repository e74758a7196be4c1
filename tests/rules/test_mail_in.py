"""What is taken from a mail: every shape of answers that we know of, in `mail_corpus/`, and what no mail may do."""

import asyncio
import encodings
import time
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import pytest

from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.limits import too_often
from tertulia.notifications.mail_in.cutting import cut_reply
from tertulia.notifications.mail_in.loops import is_ours
from tertulia.notifications.mail_in.parsing import TooMuch
from tertulia.notifications.mail_in.reading import MAX_FILES, MAX_TEXT, read_mail
from tertulia.server.mail import MAX_LINE, answer_of, take_content

CORPUS = Path(__file__).with_name("mail_corpus")
SENDER = "bob@example.com"


class Case(NamedTuple):
    """A mail, and what it says."""

    name: str
    mail: bytes
    expected: dict[str, str]


def _cases() -> list[Case]:
    cases: list[Case] = []
    for file in sorted(CORPUS.glob("*.txt")):
        for section in file.read_text(encoding="utf-8").split("##### ")[1:]:
            title, _, content = section.partition("\n")
            if title in ("expected", "files", "subject"):
                cases[-1].expected[title] = content.removesuffix("\n")
            else:
                cases.append(Case(f"{file.stem}: {title}", content.encode(), {}))
    return cases


CASES = _cases()


def test_the_corpus_has_at_least_forty_shapes() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_of_an_answer_only_what_is_new_is_taken(case: Case) -> None:
    received, _ = read_mail(case.mail, SENDER)
    assert cut_reply(received.text) == case.expected["expected"]
    assert [file.name for file in received.files] == case.expected.get("files", "").split("\n")[: len(received.files)]
    assert bool(received.files) == ("files" in case.expected)
    if "subject" in case.expected:
        assert received.subject == case.expected["subject"]


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_ends_of_lines_do_not_matter(ends: str) -> None:
    case = next(case for case in CASES if case.name == "plain: gmail answers in between")
    received, _ = read_mail(case.mail.replace(b"\n", ends.encode()), SENDER)
    assert cut_reply(received.text) == case.expected["expected"]


AUTOMATIC = [
    "Auto-Submitted: auto-replied",
    "Auto-Submitted: auto-generated; owner-email=x@example.com",
    "auto-submitted: AUTO-NOTIFIED (away)",
    "Precedence: bulk",
    "Precedence: Junk",
    "Precedence: auto_reply",
    "X-Auto-Response-Suppress: DR, OOF, AutoReply",
    "X-Auto-Response-Suppress: All",
    "X-Autoreply: yes",
    "X-Failed-Recipients: x@example.com",
    "List-Id: Friends <friends.example.org>",
    "Content-Type: multipart/report; report-type=delivery-status; boundary=x",
]


@pytest.mark.parametrize("header", AUTOMATIC)
def test_what_programs_send_by_themselves_is_known(header: str) -> None:
    assert read_mail(f"{header}\n\nI am away.".encode(), SENDER)[0].is_automatic


@pytest.mark.parametrize(
    "header", ["Auto-Submitted: no", "Auto-Submitted: no (really)", "Precedence: first-class", "Subject: x"]
)
def test_what_people_write_is_known(header: str) -> None:
    assert not read_mail(f"{header}\n\nHi.".encode(), SENDER)[0].is_automatic


@pytest.mark.parametrize("sender", ["", "<>", " "])
def test_what_nobody_is_told_about_comes_from_a_program(sender: str) -> None:
    assert read_mail(b"Subject: Undelivered\n\nx", sender)[0].is_automatic


@pytest.mark.parametrize(
    "header",
    [
        "List-Id: <chat.example.com>",
        "List-Id: Team <Chat.Example.COM>",
        "Message-ID: <missed.1@chat.example.com>",
        "From: Example notifications <noreply@chat.example.com>",
        "From: NoReply@chat.example.com",
    ],
)
def test_our_own_mails_are_known_when_they_come_back(header: str) -> None:
    ours = "noreply@chat.example.com", {"chat.example.com"}
    assert is_ours(read_mail(f"{header}\n\nx".encode(), SENDER)[1], *ours)
    foreign = header.lower().replace("chat.example.com", "chat.example.net").encode()
    assert not is_ours(read_mail(foreign + b"\n\nx", SENDER)[1], *ours)


def _nested(levels: int) -> bytes:
    heads = [f"Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n" for level in range(levels)]
    return "".join(heads).encode() + b"Content-Type: text/plain\n\ndeep\n"


def test_a_mail_with_more_than_any_mail_has_is_refused() -> None:
    parts = "".join(f"--b\nContent-Type: text/x; name=f{n}\n\nx\n" for n in range(MAX_FILES + 1))
    for mail in (_nested(60), _nested(1200), f"Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--".encode()):
        with pytest.raises(TooMuch):
            read_mail(mail, SENDER)


def test_what_is_too_much_is_refused_while_it_is_read() -> None:
    before = time.process_time()
    for mail in (_nested(300) + b"\n" * 120_000, _nested(9) + b"\r" * 2_000_000, _nested(9) + b"\n" * 2_000_000):
        with pytest.raises(TooMuch):
            read_mail(mail, SENDER)
    assert time.process_time() - before < 2.0


_HALF = b"+2AA-"
"""One half of a letter, in UTF-7."""
_FORMS = (
    b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\nContent-Disposition: attachment; %s\n\nfile\n--b--\n"
)
ODD = {
    "half a letter in a text": b"Content-Type: text/plain; charset=utf-7\n\nhi " + _HALF,
    "half a letter in a page": b"Content-Type: text/html; charset=utf-7\n\n<p>hi " + _HALF,
    "half a letter in a header": b"From: =?utf-7?q?%s?= <b@example.com>\nSubject: =?utf-7?q?%s?=\n\nhi"
    % (_HALF, _HALF),
    "half a letter in a file's name": _FORMS % b"filename*=utf-7''%2b2AA-",
    "half a letter in an older file's name": _FORMS % b'filename="=?utf-7?q?x+2AA-?="',
    "a number without end": b"Content-Type: text/html\n\n<p>hi &#" + b"1" * 5000 + b";",
    "a number without end in a link": b'Content-Type: text/html\n\n<a href="&#' + b"1" * 5000 + b';">hi</a>',
}


@pytest.mark.parametrize("name", ODD)
def test_a_mail_that_says_what_is_no_letter_is_read_all_the_same(name: str) -> None:
    """It would be put off, and come again for days."""
    received, _ = read_mail(ODD[name], SENDER)
    assert "hi" in received.text
    told = [received.text, received.sender, received.subject, *(file.name for file in received.files)]
    assert all(one.encode() is not None for one in told)


def test_a_number_of_a_letter_is_read_as_before() -> None:
    received, _ = read_mail(b"Content-Type: text/html\n\n<p>&#0000000000000065;&#x41;&#65 &amp; more", SENDER)
    assert received.text == "AAA & more"


def test_names_that_a_mail_gives_to_encodings_are_not_remembered() -> None:
    mail = b"""Subject: =?{0}-a?q?x?= =?utf-{0}-8?q?x?=
Content-Type: multipart/mixed; boundary*={0}-b''b

--b
Content-Type: text/plain; charset*={0}-c''{0}-d

said
--b
Content-Disposition: attachment; filename*={0}-e''f

x
--b--
"""
    read_mail(mail.replace(b"{0}", b"first"), SENDER)
    before = set(encodings._cache)
    received, _ = read_mail(mail.replace(b"{0}", b"second"), SENDER)
    assert (received.subject, received.text.strip(), received.files[0].name) == ("xx", "said", "f")
    assert set(encodings._cache) == before


def test_a_mail_in_a_mail_stays_as_it_is() -> None:
    inner = "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n\nx\n" * 500
    mail = f"Content-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: message/rfc822\n\n{inner}\n--c--"
    [file] = read_mail(mail.encode(), SENDER)[0].files
    assert (file.name, file.content.decode()) == ("mail.eml", inner)


PAGE = b"\n--b\nContent-Type: text/html\n\n"
HUGE = {
    "text": b"\n\n" + b"x " * 125_000,
    "quotations": b"\n\n" + b"> a\nb:\n" * 25_000,
    "heads": b"\n\n" + b"From: x\n" * 25_000,
    "introductions": b"\n\n" + b"On 2026 a@b " * 10_000 + b":\n> x",
    "dashes": b"\n\n" + b"-" * 100_000,
    "blank": b"\n\n" + b" \n" * 100_000,
    "flowed": b"Content-Type: text/plain; format=flowed\n\n" + b"a \n" * 25_000,
    "open tags": b"Content-Type: text/html\n\n" + b"<div>" * 50_000,
    "ends of tags": b"Content-Type: text/html\n\n" + b"<div>" * 20_000 + b"</p>" * 25_000,
    "quoted deeply": b"Content-Type: text/html\n\n" + b"<blockquote>" * 15_000 + b"x",
    "comments": b"Content-Type: text/html\n\n" + b"<!--" * 50_000,
    "a tag that is all name": b"Content-Type: text/html\n\n<" + b"a" * 30_000,
    "half tags": b"Content-Type: text/html\n\n" + b'<a x="' * 37_000,
    "attributes": b"Content-Type: text/html\n\n<p " + b"a = " * 50_000 + b">",
    "emphasis": b"Content-Type: text/html\n\n" + b"<b>x" * 37_000 + b"</b>" * 10_000,
    "styles": b"Content-Type: text/html\n\n" + b"<style>" * 25_000,
    "entities": b"Content-Type: text/html\n\n" + b"&" * 225_000,
    "a subject": b"Subject: " + b"=?utf-8?q?" * 12_000 + b"\n\nx",
    "a sender": b"From: " + b"(" * 125_000 + b"\n\nx",
    "parameters": b'Content-Type: multipart/mixed; x="' + b";" * 60_000 + b"\n\nx",
    "parameters of a file": b'Content-Disposition: attachment; x="' + b";" * 90_000 + b"\n\nx",
    "quotations of nothing": b"\n\n" + b">\n--\n" * 40_000,
    "pages": b"Content-Type: multipart/mixed; boundary=b\n\n" + (PAGE + b"<b>x" * 30_000) * 21,
    "many headers": b"X: y\n" * 25_000 + b"\nx",
}


@pytest.mark.parametrize("name", HUGE)
def test_no_mail_keeps_its_reader_busy(name: str) -> None:
    before = time.process_time()
    received, mail = read_mail(HUGE[name], SENDER)
    is_ours(mail, "a@b", {"b"})
    assert len(cut_reply(received.text)) <= 3 * MAX_TEXT
    # About a second on a slow machine; whatever grows with the square of the length would take minutes.
    assert time.process_time() - before < 6.0, "it takes time out of proportion to its length"


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (Refusal("You may not."), "550"),
        (Refusal("Nobody.", status=404), "550"),
        (Refusal("Too large.", status=413), "550"),
        (too_often(3.0), "451"),
        (server_not_ready("The database is away."), "451"),
        (ConnectionResetError(), "451"),
        (TimeoutError(), "451"),
        (KeyError("a mistake of ours"), "451"),
    ],
)
def test_only_what_never_becomes_a_message_is_refused_for_good(problem: Exception, code: str) -> None:
    assert answer_of(problem, "550 5.7.1").startswith(code)


def test_what_the_mail_server_is_told_is_one_line_of_ascii() -> None:
    assert answer_of(Refusal("No ü\r\n250 Ok"), "550 5.7.1") == "550 5.7.1 No ?250 Ok"


async def _taken(sent: bytes, limit: int = 1_000_000) -> tuple[bytes | None, bytes]:
    """What is taken of what a mail server sends, and what is left."""
    reader = asyncio.StreamReader(limit=MAX_LINE)

    async def send() -> None:
        for start in range(0, len(sent), 50_000):
            reader.feed_data(sent[start : start + 50_000])
            await asyncio.sleep(0)
        reader.feed_eof()

    sending = asyncio.create_task(send())
    taken = await take_content(reader, limit)
    await sending
    return taken, await reader.read()


def test_only_a_dot_between_whole_ends_of_lines_ends_a_mail() -> None:
    for inside in (b"\n.\n", b"\r.\r", b"\n.\r\n", b"\r\n.\n", b"\r\n.\r", b"\r\n..\r\n", b"\r\n.a" * 3):
        sent = b"x" + inside + b"QUIT"
        taken, left = asyncio.run(_taken(sent + b"\r\n.\r\nRSET\r\n"))
        assert (taken, left) == (sent.replace(b"\r\n.", b"\r\n") + b"\r\n", b"RSET\r\n")
    long = b"y" * 300_001
    assert asyncio.run(_taken(b"." + long + b"\r\n.\r\n")) == (long + b"\r\n", b"")


def test_of_a_mail_that_is_too_large_nothing_is_kept_and_of_others_no_line_by_itself() -> None:
    for line, limit in ((b"\r\n", 5_000_000), (b"\n", 1_000_000), (b"z" * 1000, 1_000_000)):
        sent = line * (4_000_000 // len(line)) + b"\r\n.\r\n"
        tracemalloc.start()
        taken, _ = asyncio.run(_taken(sent, limit))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (taken is None) == (limit < len(sent))
        assert peak < 4 * limit
