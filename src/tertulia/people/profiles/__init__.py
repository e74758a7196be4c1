"""Custom profile fields: what an organization asks its people to say of themselves, and what they say.

Invariants: fields change one at a time in a realm, so that names are unique, the summary stays short and the list in the
last event is the list in the database; values are written while no field changes. Locks are taken in one order: the
realm's fields, accounts, and last the realm itself (by the triggers that count changes of user records).
A value whose field is gone is gone: clients drop it when `custom_profile_fields` no longer lists the field.
"""
