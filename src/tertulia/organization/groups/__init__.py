"""User groups, and the rights that are given to them.

A group is named; or it is a system group, whose members follow from the role and are never stored; or it is anonymous: the
value of exactly one setting. Every permission is held by a group.

Invariants:
- Groups never contain themselves, at any depth: changes of a realm's groups happen one at a time (`lock_groups`).
- Who may do what is answered by `rights`, in one statement, with the roles and groups of that moment.
- Nothing comes to name a deactivated group: whoever writes a value holds the groups it names (`holders`).
- Deactivated users keep their places, but belong to no group and are not shown in one.
"""
