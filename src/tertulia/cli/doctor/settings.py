"""Settings that are read only when a process starts, and variables that nobody reads."""

from tertulia.cli.doctor import Advice, Several
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.variables import unknown_variables

LEAST_PASSWORD_MEMORY_MIB = 19
"""Of argon2id, as OWASP advises it for servers with little memory."""


def look_at_settings(settings: Settings) -> str:
    """Refuse what a process would refuse."""
    unknown, problems = unknown_variables(), _bad_rates(settings)
    if settings.external_scheme == "http" and "." in settings.external_host.partition(":")[0]:
        host = settings.external_host
        if not host.partition(":")[0].replace(".", "").isdigit():
            problems.append(
                f"people would come to http://{host}, where everybody on the way reads along: set external_scheme to https"
            )
    if settings.password_memory_mib < LEAST_PASSWORD_MEMORY_MIB:
        problems.append(
            f"passwords are hashed with {settings.password_memory_mib} MiB of memory, so that a stolen database is soon guessed: "
            f"set password_memory_mib to {LEAST_PASSWORD_MEMORY_MIB} at least (64 unless you set another)"
        )
    if problems:
        raise Several([*problems, *unknown])
    if unknown:
        raise Advice("; ".join(unknown))
    return f"the server is at {settings.url_of('')}"


def _bad_rates(settings: Settings) -> list[str]:
    from tertulia.kernel.limits import parse_rates

    problems = []
    for name in settings.__struct_fields__:
        if name.endswith("_rate"):
            try:
                parse_rates(getattr(settings, name))
            except SettingsError as problem:
                problems.append(f"{name}: {problem}")
    return problems
