"""Directories: what an organization says elsewhere of its people counts here too.

A directory (LDAP) is read now and then: names, addresses, groups and roles follow it, and who is gone from it, or disabled
there, is deactivated. A provider (OpenID Connect) says what somebody belongs to whenever they log in (`membership`).

Invariants:
- Nobody becomes an owner by what others say, no owner becomes anything else, and the only owner stays.
- Only groups and roles that the settings name are given and taken; places in all others are people's own business.
- An answer that is not complete, or by which suspiciously many would have left, changes nothing at all.
- Accounts that never came from the directory are not looked at. Nobody gets an account by being in it.
"""
