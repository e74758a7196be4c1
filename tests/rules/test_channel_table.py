"""Every parameter that names a channel is asked about channels that are not there (test_unknown_channels.py)."""

from tertulia.kernel.endpoint import PREFIX
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.features.tables.channel_table import CALLS, NO_CALL, names_a_channel


def test_every_parameter_that_names_a_channel_is_in_the_table() -> None:
    naming = {
        f"{endpoint.method} {endpoint.path.removeprefix(PREFIX)} {name}"
        for endpoint in endpoints_of(FEATURES)
        for name in [*endpoint.path_params, *(name for param in endpoint.params for name in param.names)]
        if names_a_channel(name)
    }
    missing = sorted(naming - CALLS.keys() - NO_CALL.keys())
    assert not missing, f"add to tests/features/tables/channel_table.py a call, or a reason for none: {missing}"
    assert CALLS.keys() | NO_CALL.keys() <= naming, "these are gone"
    assert not CALLS.keys() & NO_CALL.keys()
