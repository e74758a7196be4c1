"""A real malware scanner for tests: Debian's clamd, with one signature of our own: that of the EICAR test text."""

import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tertulia.engines import ChildProcess, free_port

# In two halves, so that no scanner takes this file for what it describes.
EICAR = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-" + b"STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
STREAM_LIMIT = 8 * 1024 * 1024
_CLAMD = shutil.which("clamd", path="/usr/sbin:/usr/local/sbin:/usr/bin")


@contextmanager
def clamd(folder: Path) -> Iterator[str]:
    """Its address. It takes streams of at most 8 MiB."""
    if _CLAMD is None:
        pytest.skip("needs Debian's clamav-daemon")
    database, config, port = folder / "signatures", folder / "clamd.conf", free_port()
    database.mkdir()
    (database / "own.ndb").write_text(f"Own.Eicar:0:*:{EICAR.hex()}\n")
    config.write_text(
        f"TCPSocket {port}\nTCPAddr 127.0.0.1\nDatabaseDirectory {database}\nForeground yes\nStreamMaxLength {STREAM_LIMIT}\n"
    )
    process = ChildProcess([_CLAMD, "-c", str(config)], folder / "clamd.log")
    process.start()
    try:
        deadline = time.monotonic() + 60
        while not _answers(port):
            assert process.is_alive(), (folder / "clamd.log").read_text()
            assert time.monotonic() < deadline, "clamd did not come up"
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.stop(signal.SIGTERM, 20)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"zPING\0")
            return connection.recv(16) == b"PONG\0"
    except OSError:
        return False
