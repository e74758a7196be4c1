"""What is started and stopped by hand, or by a `with` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Running(ABC):
    """Runs from `start` to `stop`."""

    @abstractmethod
    def start(self) -> object:
        """Begin."""

    @abstractmethod
    def stop(self) -> object:
        """End, in order."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
