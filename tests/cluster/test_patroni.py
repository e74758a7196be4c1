"""PostgreSQL under Patroni and etcd, as docs/how-to/high-availability.md recommends; more of it: bin/soak --cluster --patroni."""

import shutil
from pathlib import Path

import pytest

from tests.clients.environments import Missing
from tests.cluster.striking import strike
from tests.cluster.topology import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(600)]


def test_nothing_is_lost_doubled_or_reordered_when_patroni_replaces_a_machine_that_died(folder: Path) -> None:
    if shutil.which("etcd") is None:
        pytest.skip("etcd is missing: apt-get install etcd-server")
    try:
        cluster = Cluster(folder, patroni=True)
    except Missing as error:
        pytest.skip(str(error))
    with cluster:
        assert max(strike(cluster, "patroni-kill-machine")) < 90
