"""`tertulia dev mails`: a page on which all mails can be looked at."""

import re
from html import unescape
from pathlib import Path

import pytest

from tertulia.cli.errors import CommandFailed
from tertulia.cli.mail_previews import mails, samples
from tertulia.kernel.languages import SPOKEN


def test_the_page_shows_each_mail_in_each_language_light_dark_and_on_a_phone(tmp_path: Path) -> None:
    mails(tmp_path / "mails.html")
    page = (tmp_path / "mails.html").read_text()
    frames = [unescape(one) for one in re.findall(r'srcdoc="([^"]*)"', page)]
    written = [mail.letter.html for language in SPOKEN for _, mail in samples(language)]
    assert frames == [html for html in written for _ in range(3)]
    assert len(set(written)) == len(written) == 7 * len(SPOKEN)


def test_a_page_is_written_anew_and_no_other_file_is_replaced(tmp_path: Path) -> None:
    page, other = tmp_path / "mails.html", tmp_path / "passwd"
    mails(page)
    page.write_text(page.read_text()[:200])
    mails(page)
    assert page.stat().st_size > 100_000
    other.write_text("root:x:0:0:root:/root:/bin/bash\n")
    with pytest.raises(CommandFailed, match="is there already, and no page of mails"):
        mails(other)
    assert other.read_text() == "root:x:0:0:root:/root:/bin/bash\n"
