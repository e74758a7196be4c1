"""Settings that are read only when a process starts, and variables that nobody reads."""

from tertulia.cli.doctor import Advice, Several
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.variables import unknown_variables


def look_at_settings(settings: Settings) -> str:
    """Refuse what a process would refuse."""
    unknown, problems = unknown_variables(), _bad_rates(settings)
    if settings.external_scheme == "http" and "." in settings.external_host.partition(":")[0]:
        host = settings.external_host
        if not host.partition(":")[0].replace(".", "").isdigit():
            problems.append(
                f"people would come to http://{host}, where everybody on the way reads along: set external_scheme to https"
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
