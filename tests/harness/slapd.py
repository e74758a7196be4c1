"""A real directory server for tests: Debian's slapd with data of its own on a free port."""

import re
import shutil
import socket
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tertulia.engines import ChildProcess, free_port
from tertulia.people.logins.directory import load_library
from tests.harness.certificate import make_certificate

BASE = "dc=example,dc=org"
READER = f"cn=reader,{BASE}"
READER_PASSWORD = "reads entries"
LIMITED = f"cn=limited,{BASE}"
"""Reads as much as the reader does, but no more than 500 entries of an answer: slapd's own limit."""
PEOPLE, GROUPS = f"ou=people,{BASE}", f"ou=groups,{BASE}"
PASSWORD = "open sesame, please"
_SLAPD = shutil.which("slapd", path="/usr/sbin:/usr/local/sbin:/usr/lib/openldap:/sbin:/usr/bin")

_CONFIG = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl'
  EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.4203.666.1.1 NAME 'controlledAccount' SUP top AUXILIARY MAY userAccountControl )
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
database mdb
maxsize 67108864
suffix "{base}"
rootdn "cn=admin,{base}"
rootpw admin
directory {folder}/db
limits dn.exact="{reader}" size.soft=unlimited size.hard=unlimited
access to attrs=userPassword by self write by anonymous auth by * none
access to * by self read by dn.exact="{reader}" read by dn.exact="{limited}" read by anonymous auth by * none
"""
_ENTRIES = """
dn: {base}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: {reader}
objectClass: applicationProcess
objectClass: simpleSecurityObject
cn: reader
userPassword: {reader_password}

dn: {limited}
objectClass: applicationProcess
objectClass: simpleSecurityObject
cn: limited
userPassword: {reader_password}

dn: ou=people,{base}
objectClass: organizationalUnit
ou: people

dn: ou=groups,{base}
objectClass: organizationalUnit
ou: groups
"""


class Slapd:
    """A running directory."""

    def __init__(self, folder: Path) -> None:
        if _SLAPD is None:
            pytest.fail("slapd is missing: apt-get install slapd (the .ci/run script does it as root)")
        self.folder = folder
        self.certificate, key = make_certificate(folder)
        self.port, self.tls_port = free_port(), free_port()
        self.url = f"ldap://localhost:{self.port}"
        self.tls_url = f"ldaps://localhost:{self.tls_port}"
        config = folder / "slapd.conf"
        (folder / "db").mkdir()
        config.write_text(
            _CONFIG.format(
                folder=folder, certificate=self.certificate, key=key, base=BASE, reader=READER, limited=LIMITED
            )
        )
        self._config = config
        self.add(_ENTRIES.format(base=BASE, reader=READER, limited=LIMITED, reader_password=READER_PASSWORD))
        # The certificate is good for the first address only.
        addresses = ("127.0.0.1", "127.0.0.2")
        hosts = " ".join(f"ldap://{each}:{self.port} ldaps://{each}:{self.tls_port}" for each in addresses)
        self.process = ChildProcess([_SLAPD, "-d", "0", "-h", hosts, "-f", str(config)], folder / "slapd.log")

    def add(self, ldif: str) -> None:
        """Put entries into the directory, before it runs."""
        assert _SLAPD is not None
        command = [_SLAPD, "-T", "add", "-f", str(self._config)]
        done = subprocess.run(command, input=ldif, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr

    def add_person(self, uid: str, *, name: str = "A Person", mail: str = "") -> None:
        """Somebody whose password is PASSWORD."""
        escaped = re.sub(r'([,+"\\<>;=#])', r"\\\1", uid)
        values = [
            ("uid", uid),
            ("cn", name),
            ("sn", name),
            ("userPassword", PASSWORD),
            *([("mail", mail)] if mail else []),
        ]
        lines = [("dn", f"uid={escaped},ou=people,{BASE}"), ("objectClass", "inetOrgPerson"), *values]
        self.add("".join(f"{key}:: {b64encode(value.encode()).decode()}\n" for key, value in lines))

    def put(self, name: str, *classes: str, **values: str | list[str] | int) -> None:
        """Add an entry while it runs."""
        with self._administrator() as connection:
            assert connection.add(name, list(classes), values), connection.result

    def put_person(self, uid: str, **values: str | int) -> str:
        """Add somebody while it runs, whose password is PASSWORD; returns the entry's name."""
        name = f"uid={uid},{PEOPLE}"
        known = {"cn": "A Person", "sn": "Person", "mail": f"{uid}@example.org", "userPassword": PASSWORD}
        self.put(name, "inetOrgPerson", "controlledAccount", uid=uid, **(known | values))
        return name

    def change(self, name: str, **values: str | list[str] | int) -> None:
        """Replace attributes of an entry while it runs."""
        ldap = load_library()
        given = {key: value if isinstance(value, list) else [value] for key, value in values.items()}
        with self._administrator() as connection:
            changes = {key: [(ldap.MODIFY_REPLACE, value)] for key, value in given.items()}
            assert connection.modify(name, changes), connection.result

    def remove(self, *names: str) -> None:
        """Delete entries while it runs."""
        with self._administrator() as connection:
            for name in names:
                assert connection.delete(name), connection.result

    @contextmanager
    def _administrator(self) -> Iterator[Any]:
        ldap = load_library()
        server = ldap.Server(self.url, get_info=ldap.NONE)
        connection = ldap.Connection(server, f"cn=admin,{BASE}", "admin")
        assert connection.bind(), connection.result
        try:
            yield connection
        finally:
            connection.unbind()

    def start(self) -> None:
        self.process.start()
        deadline = time.monotonic() + 20
        while not self._answers():
            assert self.process.is_alive(), (self.folder / "slapd.log").read_text()
            assert time.monotonic() < deadline, "slapd did not come up"
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def settings(self, subdomain: str, *, by_search: bool = True) -> dict[str, object]:
        """How a web process finds it."""
        way: dict[str, object] = {"ldap_user_dn_template": f"uid={{username}},ou=people,{BASE}"}
        if by_search:
            way = {
                "ldap_search_base": f"ou=people,{BASE}",
                "ldap_bind_dn": READER,
                "ldap_bind_password": READER_PASSWORD,
            }
        return {"ldap_url": self.url, "ldap_realm": subdomain, **way}


@contextmanager
def directory(folder: Path) -> Iterator[Slapd]:
    """Add people, then start it; stopped in the end."""
    slapd = Slapd(folder)
    try:
        yield slapd
    finally:
        slapd.process.stop()
