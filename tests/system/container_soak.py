"""From a checkout to a message through TLS by the commands of docs/how-to/run-in-containers.md, without Docker: the long form of
test_containers.py.

    bin/soak --container
    bin/soak --container --suite bookworm --mirror http://mirror.example.com/debian
    bin/soak --container --place /var/tmp/image       keeps base, image and logs there, and takes base and image the next time

As root, with buildah, debootstrap and Caddy (Debian: `apt-get install buildah debootstrap caddy`) and 4 GB of room. The image is
built as by `docker build`; `docker compose` is container_engine.py; PostgreSQL's and Caddy's images are container_images.py.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.system.compose_file import CHECKOUT, FOLDER, commands_of_guide, read_compose, read_variables
from tests.system.container_engine import Engine
from tests.system.container_images import Builder, caddy_image, our_image, postgres_image
from tests.system.debian_root import make_base

HOST: Final = "chat.localhost"
"""For a name like this Caddy makes a certificate by itself, without asking anybody."""
OWNER: Final = "ines@example.com"
INSIDE: Final = "--inside"
BRIEF: Final = "--brief"
IMAGE: Final = "image.json"
CADDY_WAITS: Final = 30.0
"""Seconds that a request waits for a new web process (`lb_try_duration` of its file)."""
ASK: Final = """
import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1], context=ssl.create_default_context(cafile=sys.argv[2]), timeout=60)
"""


def main() -> int:
    options = parse()
    if options.place:
        return work(Path(options.place), options)
    with tempfile.TemporaryDirectory(prefix="tertulia-container-") as place:
        return work(Path(place), options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="trixie", help="of Debian, for the base")
    parser.add_argument("--mirror", help="of Debian; the one of this machine if it is not named")
    parser.add_argument("--place", help="where to work; stays there")
    parser.add_argument("--base", help="a bare root that is there already")
    parser.add_argument(BRIEF, action="store_true", help="the five commands, a message, and no more of the page")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def work(place: Path, options: argparse.Namespace) -> int:
    if options.inside:
        return Guide(place).follow(is_brief=options.brief)
    place.mkdir(exist_ok=True)
    base, builder = Path(options.base or place / "base"), Builder(place / "storage")
    if not base.exists():
        with timed("debootstrap"):
            make_base(base, options.suite, options.mirror)
    [build, *_] = commands_of_guide("Five commands")
    if not (place / IMAGE).exists():
        with timed("take the base"):
            builder.take_base(base)
        with timed(build):
            build_image(builder, build)
        with timed("unpack it"):
            (place / IMAGE).write_text(json.dumps(builder.unpack()))
    # What is started from here on ends with this process, and sees a network of its own.
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    again = [sys.executable, "-m", "tests.system.container_soak", INSIDE, "--place", str(place)]
    again += [BRIEF] if options.brief else []
    return subprocess.run([*unshare, *again], check=False, cwd=CHECKOUT).returncode


def build_image(builder: Builder, command: str) -> None:
    match shlex.split(command):
        case ["docker", "build", "--tag", _, "--file", file, "."]:
            builder.build(file, CHECKOUT)
        case _:
            raise ValueError(f"no stand-in for {command}")


class Guide:
    """Who reads the page, and does what it says."""

    def __init__(self, place: Path) -> None:
        self._place = place / "run"
        shutil.rmtree(self._place, ignore_errors=True)
        self._folder = self._place / "container"
        shutil.copytree(FOLDER, self._folder, ignore=shutil.ignore_patterns("secrets", ".env"))
        ours = our_image(json.loads((place / IMAGE).read_text()))
        self._images = {
            "tertulia:0.1.0": ours,
            "docker.io/library/postgres:18": postgres_image(ours, self._place / "postgres"),
            "docker.io/library/caddy:2": caddy_image(ours, self._place / "caddy"),
        }
        self._engine: Engine | None = None

    def follow(self, *, is_brief: bool) -> int:
        began = time.monotonic()
        _, enter, *rest = commands_of_guide("Five commands")
        assert enter == "cd deploy/container"
        *before, init = [command.replace("chat.example.com", HOST) for command in rest]
        for command in before:
            self._do(command)
        link = self._do(init).strip()
        with timed("the owner begins, and hears a message"):
            self._meet(link)
        self._look_around()
        if not is_brief:
            self._go_on()
        print(f"All of it, without base and image: {time.monotonic() - began:.0f} s")
        return 0

    def _go_on(self) -> None:
        """The rest of the page."""
        self._do("docker compose exec web tertulia doctor")
        self._make_key()
        said = self._count_messages()
        for heading in ("Back up", "Restore", "Upgrade"):
            for command in commands_of_guide(heading):
                self._do(command)
        assert self._count_messages() == said != "0\n"
        self._exchange_web()

    def _do(self, command: str) -> str:
        with timed(command):
            told = self._done(shlex.split(command))
        print("".join(f"    {line}\n" for line in told.splitlines()), end="")
        return told

    def _done(self, words: list[str]) -> str:
        match words:
            case ["./setup", *_]:
                subprocess.run(words, check=True, cwd=self._folder)
            case ["docker", "compose", "up", "--detach", "--wait"]:
                self._compose.up()
            case ["docker", "compose", "run", "--rm", "--no-deps", name, *arguments]:
                return self._compose.run(name, arguments, has_needs=False)
            case ["docker", "compose", "run", "--rm", "--volume", volume, name, *arguments]:
                return self._compose.run(name, arguments, volume)
            case ["docker", "compose", "stop", *names]:
                for name in names:
                    self._compose.stop(name)
            case ["docker", "compose", "run", "--rm", name, *arguments]:
                return self._compose.run(name, arguments)
            case ["docker", "compose", "exec", name, *command]:
                done = self._compose.execute(name, command)
                assert done.returncode == 0, done.stdout + done.stderr
                return done.stdout
            case ["docker", "build", *_]:
                pass  # the image of this version is there
            case _:
                raise ValueError(f"no stand-in for {shlex.join(words)}")
        return ""

    @property
    def _compose(self) -> Engine:
        if self._engine is None:
            file = read_compose(self._folder, read_variables(self._folder / ".env"))
            self._engine = Engine(self._place, self._folder, file, self._images)
        return self._engine

    @property
    def _authority(self) -> Path:
        return self._compose.volume("caddy") / "caddy/pki/authorities/local/root.crt"

    def _meet(self, link: str) -> None:
        """From outside, by the name, to Caddy."""
        hosts = self._place / "hosts"
        hosts.write_text(f"127.0.0.1 localhost\n{self._compose.address_of('caddy', 'front')} {HOST}\n")
        subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
        first = Path(__file__).with_name("first_message.py")
        subprocess.run([sys.executable, str(first), link, OWNER, str(self._authority)], check=True)

    def _look_around(self) -> None:
        """Who the processes are, and that they can write nothing but what the file says."""
        for name, running in self._compose.running.items():
            status = Path(f"/proc/{running.inner}/status").read_text()
            facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            written = self._compose.execute(name, ["/bin/sh", "-c", "echo x >/etc/x || echo x >/opt/x || echo x >/x"])
            print(f"    {name}: uid {facts['Uid'].split()[0]}, capabilities {facts['CapBnd']}")
            assert facts["Uid"].split()[0] not in ("0", ""), name
            assert int(facts["CapEff"], 16) == 0, name
            assert facts["NoNewPrivs"].strip() == "1", name
            assert written.stderr.count("Read-only file system") == 3, f"{name}: {written}"

    def _make_key(self) -> None:
        """For backups, as the page says: somewhere else, and its public part in the settings."""
        make = [sys.executable, "-m", "tertulia", "backup", "new-key", str(self._folder / "backup.key")]
        public = subprocess.check_output(make, text=True).strip()
        settings = self._folder / "secrets" / "tertulia.toml"
        settings.chmod(0o644)
        settings.write_text(
            settings.read_text().replace('# backup_recipients = "age1..."', f'backup_recipients = "{public}"')
        )
        (self._folder / "backup.key").chmod(0o444)

    def _count_messages(self) -> str:
        ask = ["psql", "--username=postgres", "--tuples-only", "--no-align", "--command=select count(*) from message"]
        return self._compose.execute("postgres", [*ask, "tertulia"]).stdout

    def _exchange_web(self) -> None:
        """Who calls meanwhile waits, and is answered."""
        with timed("exchange web while somebody calls"):
            self._compose.stop("web")
            call = subprocess.Popen(
                [sys.executable, "-c", ASK, f"https://{HOST}/api/v1/server_settings", str(self._authority)]
            )
            began = time.monotonic()
            self._compose.up()
            took = time.monotonic() - began
            is_answered = call.wait(timeout=60) == 0
        if took < CADDY_WAITS:
            assert is_answered
        elif not is_answered:
            print(f"    NOT SHOWN: on this busy machine the start took {took:.0f} s, and Caddy waits {CADDY_WAITS:.0f}")


@contextmanager
def timed(name: str) -> Iterator[None]:
    print(f"$ {name}", flush=True)
    began = time.monotonic()
    yield
    print(f"    {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
