"""Which addresses are part of the public internet: the registries of special addresses, written out.

Python's `is_global` differs from version to version and calls some of these public. Here everything is public in IPv4 that the
registry does not set aside, and in IPv6 only global unicast, less what is set aside in it. A new address that stands for an old
one is judged by the old one where it leads there (mapped, NAT64), and refused where that way has been given up (6to4, Teredo).

Sources: IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890 and later), as of 2026.
"""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_OLD_SPECIAL = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata of cloud machines
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, such as 192.0.0.8
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112: answers for private addresses
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""What was given out. Loopback, fc00::/7, fe80::/10, fec0::/10, multicast and what nobody has yet are outside."""
_NEW_SPECIAL = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether anybody on the internet means the same machine by it."""
    meant = meant_by(address)
    if isinstance(meant, ipaddress.IPv4Address):
        return not any(meant in network for network in _OLD_SPECIAL)
    return meant in _UNICAST and not any(meant in network for network in _NEW_SPECIAL)


def meant_by(address: Address) -> Address:
    """The old address that a new one leads to; any other address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
