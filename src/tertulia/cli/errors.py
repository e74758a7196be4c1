"""What a command tells the operator in one line instead of a traceback."""


class CommandFailed(Exception):
    """The text says what is wrong and what to do."""


def is_expected(problem: Exception) -> bool:
    """Whether the text alone helps the operator. Asked only after a failure, so a good start imports nothing for it."""
    from tertulia.engines.errors import EngineFailed, EngineMissing
    from tertulia.kernel.errors import Refusal
    from tertulia.kernel.settings import SettingsError

    return isinstance(problem, (CommandFailed, EngineFailed, EngineMissing, Refusal, SettingsError))
