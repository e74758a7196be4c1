"""The programs that only `tertulia dev` needs: a server whose engines somebody else runs has none of them."""

from tertulia.kernel.settings import Settings


def look_at_programs(settings: Settings) -> str:
    """Where they are. That there are none is nothing wrong."""
    from tertulia.engines import EngineMissing, find_nats_server, find_postgres
    from tertulia.engines.find import postgres_version

    try:
        programs = find_postgres(settings)
        return f"PostgreSQL {postgres_version(programs)} in {programs}, nats-server at {find_nats_server(settings)}"
    except EngineMissing as missing:
        return f"not possible here, and not needed otherwise ({missing})"
