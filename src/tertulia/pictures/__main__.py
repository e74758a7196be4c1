"""`python -m tertulia.pictures SOURCE FOLDER WIDTH HEIGHT`, for apart.py: writes the small forms, and prints what it found.

The process gives itself limits of memory and processor time before it looks at the picture.
"""

import json
import os
import resource
import sys
from pathlib import Path

from tertulia.pictures.shrinking import shrink_file

MEMORY_BYTES = 1536 * 1024 * 1024
CPU_SECONDS = 20


def main() -> None:
    """Shrink one picture."""
    os.nice(10)  # people who talk come first
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    source, folder, width, height = sys.argv[1:]
    sys.stdout.write(json.dumps(shrink_file(Path(source), Path(folder), int(width), int(height))))


if __name__ == "__main__":
    main()
