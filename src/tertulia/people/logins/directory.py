"""A directory of people (LDAP): is this their password, and who are they?

A person proves the password by binding with it. An empty one is never sent: to a directory that is an anonymous bind,
which succeeds. What somebody typed is escaped before it becomes part of a filter or of an entry's name. The library
(extra `ldap`) blocks, so it works in threads: its own, because a directory that does not answer would keep those of all
others for seconds. It has no end of its own for an answer that drips or goes on for ever, and reads what is no answer at all
with whatever exception comes of it: `_Measured` and `_heard` see to both.
"""

import socket
import ssl
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import structlog

from tertulia.kernel.door import waiting_elsewhere
from tertulia.kernel.errors import server_not_ready
from tertulia.kernel.login_settings import Membership, role_given_by
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.threads import Threads
from tertulia.kernel.urls import split_url

log = structlog.get_logger()

T = TypeVar("T")

CONNECT_SECONDS = 5
RECEIVE_SECONDS = 10
MAX_ASKED = 8
"""How often the directory is asked at once."""
PIECE = 64 * 1024
"""Bytes that are read at once. The library puts them together anew with each piece, and would take far smaller ones."""
MAX_ID_BYTES = 2000
"""Longer ones are not kept."""
SLOT = "{username}"
BY_NAME = "dn:"
"""Begins the id of somebody whose entry has none but its own name."""


class DirectoryPerson(msgspec.Struct, frozen=True):
    """Somebody whose password was right."""

    id: str
    email: str
    full_name: str
    entry: str = ""
    """What their entry is called."""
    uids: tuple[str, ...] = ()
    """By which groups may name them."""


class Measure(msgspec.Struct, frozen=True):
    """What one connection may take altogether."""

    seconds: float
    most: int
    """Bytes that the directory says."""


class LdapDirectory:
    """The directory of one organization."""

    measure = Measure(15.0, 1024 * 1024)

    def __init__(self, settings: Settings) -> None:
        check_settings(settings)
        self._settings = settings
        self._ldap = load_library()
        self._threads = Threads("directory", running=MAX_ASKED, waiting=4 * MAX_ASKED)

    def serves(self, subdomain: str) -> bool:
        """Whether the people of the organization there are in it."""
        return self._settings.ldap_realm == subdomain

    async def find(self, username: str, password: str) -> DirectoryPerson | None:
        """The person, if that is their password, and the directory does not say that they are disabled."""
        # Also what the library sends to nobody, of whom there is an entry, is a wrong password as of whom there is none.
        if not password or not self._is_sent(password):
            return None
        return await self._asked(self._find, username, password)

    async def role_of(self, person: DirectoryPerson) -> int | None:
        """The role that the directory gives somebody; None: it gives none."""
        giving = [membership for membership in self._settings.ldap_memberships if membership.role]
        return await self._asked(self._role_of, person, giving) if giving else None

    async def _asked(self, ask: Callable[..., T], *given: object) -> T:
        try:
            with waiting_elsewhere():
                return await self._threads.run(ask, *given)
        except self._ldap.core.exceptions.LDAPException as error:
            log.error("the directory cannot be asked", url=self._settings.ldap_url, error=repr(error))
            raise server_not_ready("The directory of users cannot be reached right now. Please try again.") from error

    def _is_sent(self, password: str) -> bool:
        try:
            self._ldap.protocol.sasl.sasl.validate_simple_password(password)
        except self._ldap.core.exceptions.LDAPExceptionError:
            return False
        return True

    def _find(self, username: str, password: str) -> DirectoryPerson | None:
        if self._settings.ldap_user_dn_template:
            name = self._settings.ldap_user_dn_template.replace(SLOT, self._ldap.utils.dn.escape_rdn(username))
        else:
            found = self._search(username)
            if found is None:
                # As many connections as for somebody who exists, so that the time tells nothing.
                with self._reader():
                    return None
            name = found
        with self._connect(name, password) as connection:
            if not self._bind(connection, may_be_wrong=True) or self._is_disabled(connection, name):
                return None
            return self._read(connection, name)

    def _is_disabled(self, own: Any, name: str) -> bool:
        """Asked as by whoever compares all people, if there is somebody who does: people need not see what is said of them."""
        disabled = self._settings.ldap_disabled_filter
        if not disabled or not self._settings.ldap_bind_dn:
            return bool(disabled) and self._is_so(own, name, self._of_people(disabled))
        with self._reader() as connection:
            return self._is_so(connection, name, self._of_people(disabled))

    def _role_of(self, person: DirectoryPerson, giving: Sequence[Membership]) -> int | None:
        with self._reader() as connection:
            return role_given_by(one for one in giving if self._belongs(connection, person, one.where))

    def _belongs(self, connection: Any, person: DirectoryPerson, where: str) -> bool:
        """Whether a filter is true of somebody, or the group of that name has them."""
        if where.startswith("("):
            return self._is_so(connection, person.entry, self._of_people(where))
        named = [("member", person.entry), ("uniqueMember", person.entry), *(("memberUid", uid) for uid in person.uids)]
        escape = self._ldap.utils.conv.escape_filter_chars
        return self._is_so(connection, where, f"(|{''.join(f'({name}={escape(value)})' for name, value in named)})")

    def _of_people(self, also: str) -> str:
        return f"(&{self._settings.ldap_people_filter}{also})"

    def _is_so(self, connection: Any, name: str, wanted: str) -> bool:
        """Whether a filter is true of an entry."""
        self._ask(connection, name, wanted, self._ldap.BASE, ["1.1"])
        return any(entry["type"] == "searchResEntry" for entry in connection.response)

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        """A connection of whoever may look at all people."""
        with self._connect(self._settings.ldap_bind_dn, self._settings.ldap_bind_password) as connection:
            self._bind(connection)
            yield connection

    def _search(self, username: str) -> str | None:
        """The name of the person's entry."""
        wanted = self._settings.ldap_search_filter.replace(SLOT, self._ldap.utils.conv.escape_filter_chars(username))
        with self._reader() as connection:
            self._ask(connection, self._settings.ldap_search_base, wanted, self._ldap.SUBTREE, ["1.1"])
            entries = [entry["dn"] for entry in connection.response if entry["type"] == "searchResEntry"]
        if len(entries) > 1:
            log.error("a user name is not unique in the directory", entries=entries)
        return entries[0] if len(entries) == 1 else None

    def _read(self, connection: Any, name: str) -> DirectoryPerson | None:
        """Who that is, as the person themselves may read it."""
        self._ask(connection, name, "(objectClass=*)", self._ldap.BASE, [*self._attributes(), "uid"])
        entries = [entry for entry in connection.response if entry["type"] == "searchResEntry"]
        if not entries:
            log.error("the directory does not show people their own entry", entry=name)
            return None
        return self._person_of(entries[0])

    def _attributes(self) -> list[str]:
        chosen = self._settings
        return [chosen.ldap_email_attribute, chosen.ldap_name_attribute, chosen.ldap_id_attribute]

    def _person_of(self, entry: dict[str, Any]) -> DirectoryPerson:
        email, full_name = (_text(values_of(entry, attribute)) for attribute in self._attributes()[:2])
        id = _id_text(values_of(entry, self._settings.ldap_id_attribute))
        uids = tuple(value.decode(errors="replace") for value in values_of(entry, "uid"))
        return DirectoryPerson(
            id or f"{BY_NAME}{entry['dn'].lower()}", email.strip(), full_name.strip(), entry["dn"], uids
        )

    def _connect(self, name: str, password: str) -> Any:
        chosen, ldap = self._settings, self._ldap
        server = ldap.Server(chosen.ldap_url, tls=self._tls(), get_info=ldap.NONE, connect_timeout=CONNECT_SECONDS)
        return _Bound(
            ldap.Connection(
                server,
                user=name or None,
                password=password or None,
                authentication=ldap.SIMPLE if name else ldap.ANONYMOUS,
                auto_referrals=False,
                read_only=True,
                receive_timeout=RECEIVE_SECONDS,
                raise_exceptions=False,
            )
        )

    def _tls(self) -> Any:
        """TLS as Python does it: the library's own way uses deprecated functions and leaks sockets."""
        host = split_url(self._settings.ldap_url).hostname

        def wrap(connection: Any, do_handshake: bool = True) -> None:  # noqa: ARG001 (the library's signature)
            connection.socket = self._context.wrap_socket(connection.socket, server_hostname=host)

        tls = self._ldap.Tls(validate=ssl.CERT_REQUIRED)
        tls.wrap_socket = wrap
        return tls

    @cached_property
    def _context(self) -> ssl.SSLContext:
        """Once: reading the system's certificates takes a processor up to a tenth of a second, and strangers try passwords."""
        return ssl.create_default_context(cafile=self._settings.ldap_ca_file or None)

    def _bind(self, connection: Any, *, may_be_wrong: bool = False) -> bool:
        self._heard(connection.open)
        if self._settings.ldap_start_tls and not self._heard(connection.start_tls):
            raise self._ldap.core.exceptions.LDAPStartTLSError("STARTTLS was not possible")
        connection.socket = _Measured(connection.socket, self.measure)
        if self._heard(connection.bind):
            return True
        if may_be_wrong and connection.result["result"] in (32, 34, 48, 49, 53):
            return False  # no such entry, no such name, wrong password, or not allowed to log in: all look alike
        raise self._ldap.core.exceptions.LDAPBindError(str(connection.result))

    def _ask(self, connection: Any, base: str, wanted: str, scope: str, attributes: list[str]) -> None:
        self._heard(connection.search, base, wanted, search_scope=scope, attributes=attributes, size_limit=2)
        if connection.result["result"] not in (0, 4, 32):  # found, too many, none
            raise self._ldap.core.exceptions.LDAPOperationResult(str(connection.result))

    def _heard(self, ask: Callable[..., T], *given: object, **named: object) -> T:
        """Ask the library. What it cannot read is an answer that was not had, whatever it makes of it."""
        errors = self._ldap.core.exceptions
        try:
            return ask(*given, **named)
        except errors.LDAPException:
            raise
        except Exception as error:
            raise errors.LDAPSocketReceiveError(f"its answer cannot be read ({error!r})") from error


class _Measured:
    """The socket of a connection, with an end to what comes: the library waits anew for each piece."""

    def __init__(self, opened: socket.socket, measure: Measure) -> None:
        self._socket = opened
        self._deadline = time.monotonic() + measure.seconds
        self._left = measure.most

    def recv(self, _size: int) -> bytes:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("it does not come to an end")
        self._socket.settimeout(min(left, RECEIVE_SECONDS))
        piece = self._socket.recv(PIECE)
        self._left -= len(piece)
        if self._left < 0:
            raise OSError("there is no end of it")
        return piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


class _Bound:
    """Closes a connection that is opened by hand."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __enter__(self) -> Any:
        return self._connection

    def __exit__(self, *_: object) -> None:
        opened = self._connection.socket
        self._connection.unbind()
        if opened is not None:  # the library leaves open what could not be connected
            opened.close()


def values_of(entry: dict[str, Any], attribute: str) -> list[bytes]:
    """What an entry says in an attribute, however that is spelled."""
    found = (values for name, values in entry["raw_attributes"].items() if name.lower() == attribute.lower())
    return next(found, None) or []


def _text(values: list[bytes]) -> str:
    if not values:
        return ""
    try:
        return values[0].decode()
    except UnicodeDecodeError:
        return values[0].hex()


def _id_text(values: list[bytes]) -> str:
    """As `_text`: some ids are bytes that only look like text, until one of them is zero, which no text here has."""
    text = _text(values)
    return values[0].hex() if "\0" in text else text


def is_id(id: str) -> bool:
    """Whether somebody can be known by it."""
    return len(id.encode()) <= MAX_ID_BYTES


def load_library() -> Any:
    """The LDAP library, if it is installed."""
    try:
        # It uses names of its ASN.1 library that are on their way out.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import ldap3
            import ldap3.core.exceptions
            import ldap3.protocol.sasl.sasl
            import ldap3.utils.conv
            import ldap3.utils.dn
    except ImportError as error:
        raise SettingsError("ldap_url needs the extra: pip install 'tertulia[ldap]'") from error
    return ldap3


def check_settings(settings: Settings) -> None:
    """Refuse settings that would not work, or would work for everybody."""
    if not settings.ldap_url.startswith(("ldap://", "ldaps://")):
        raise SettingsError("ldap_url must look like ldap://host or ldaps://host")
    if settings.ldap_url.startswith("ldaps://") and settings.ldap_start_tls:
        raise SettingsError("ldap_start_tls is for ldap:// only: ldaps:// is encrypted from the start")
    if settings.ldap_user_dn_template:
        if SLOT not in settings.ldap_user_dn_template:
            raise SettingsError(f"ldap_user_dn_template must contain {SLOT}")
    elif not settings.ldap_search_base or SLOT not in settings.ldap_search_filter:
        raise SettingsError(
            f"ldap_url needs ldap_user_dn_template, or ldap_search_base and {SLOT} in ldap_search_filter"
        )
