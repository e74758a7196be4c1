"""What is different inside a container."""

from pathlib import Path
from typing import Final

CONTAINER_SECRETS: Final = Path("/run/secrets")
"""Where container engines put secrets, one file each, that this container alone can read."""
