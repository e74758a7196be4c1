"""`python -m tertulia.content.pictures JOB ...`, for apart.py: decodes one picture, and prints what became of it.

`shrink SOURCE FOLDER WIDTH HEIGHT` writes thumbnails. `fit SIDE`, `cover SIDE...`, `within WIDTH HEIGHT` and `icons` read the
picture from standard input. The process gives itself limits of memory and processor time before it looks at the picture.
"""

import json
import os
import resource
import sys
from pathlib import Path

import msgspec

from tertulia.content.pictures.fitting import cover, fit, within
from tertulia.content.pictures.icons import app_icons
from tertulia.content.pictures.shrinking import shrink_file

MEMORY_BYTES = 1536 * 1024 * 1024
CPU_SECONDS = 20


def main() -> None:
    """Do one job."""
    os.nice(10)  # people who talk come first
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    sys.stdout.buffer.write(done(sys.argv[1], sys.argv[2:]))


def done(job: str, arguments: list[str]) -> bytes:
    """What is printed."""
    if job == "shrink":
        source, folder, width, height = arguments
        return json.dumps(shrink_file(Path(source), Path(folder), int(width), int(height))).encode()
    data, sizes = sys.stdin.buffer.read(), [int(argument) for argument in arguments]
    if job == "icons":
        return msgspec.msgpack.encode(app_icons(data))
    if job == "fit":
        return msgspec.msgpack.encode(fit(data, *sizes))
    return msgspec.msgpack.encode(cover(data, sizes) if job == "cover" else within(data, *sizes))


if __name__ == "__main__":
    main()
