"""Every endpoint that names a channel or a message is asked what it tells those who may not know of them."""

from tertulia.kernel.endpoint import PREFIX
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.features.tables.privacy_table import CHANNEL_PROBES, MESSAGE_PROBES, NAMING, NO_PROBE


def test_every_endpoint_that_names_a_channel_or_message_is_in_the_table() -> None:
    probed = {key.split(" by ")[0] for key in (*CHANNEL_PROBES, *MESSAGE_PROBES)}
    naming = {}
    for endpoint in endpoints_of(FEATURES):
        names = NAMING & {*endpoint.path_params, *(name for param in endpoint.params for name in param.names)}
        naming[f"{endpoint.method} {endpoint.path.removeprefix(PREFIX)}"] = names
    missing = sorted(key for key, names in naming.items() if names and key not in probed | NO_PROBE.keys())
    assert not missing, f"add to tests/features/tables/privacy_table.py a probe, or a reason for none: {missing}"
    assert probed | NO_PROBE.keys() <= naming.keys(), "these are gone"
