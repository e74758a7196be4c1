"""Changing who holds the permissions of the organization."""

from tertulia.kernel.compat import old_policies
from tertulia.kernel.db import Transaction
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.events import tell_old_policies, tell_permissions
from tertulia.organization.groups.holders import change_value, discard, load_systems, values_of
from tertulia.organization.groups.settings import REALM_SETTINGS
from tertulia.organization.groups.values import ChangedValue


async def change_permissions(tx: Transaction, realm_id: int, changes: dict[str, ChangedValue]) -> set[str]:
    """Change permissions, all or nothing, and tell of those that are different now; their names."""
    await statements.lock_groups(tx, realm_id)
    systems = await load_systems(tx, realm_id)
    holders = await queries.permission_holders(tx, realm_id)
    changed: dict[str, int] = {}
    held: dict[str, int] = {}
    for setting, change in changes.items():
        rule = REALM_SETTINGS[setting]
        old = holders.get(setting) or systems.id_of(rule.default)
        new = await change_value(tx, realm_id, rule, old, change, systems)
        if new != old:
            before_and_after = await values_of(tx, [old, new])
            shown = {setting: (before_and_after[old], before_and_after[new])}
            note(tx, realm_id, Act.REALM_PERMISSIONS_CHANGED, realm(realm_id), **shown)
            await statements.set_permission(tx, realm_id, setting, new)
            changed[setting] = new
            held[setting] = old
    if changed:
        await discard(tx, list(held.values()))
        values = await values_of(tx, list(changed.values()))
        tell_permissions(tx, realm_id, {setting: values[holder] for setting, holder in changed.items()})
        before = old_policies({setting: systems.names.get(held[setting]) for setting in changed})
        after = old_policies({setting: systems.names.get(holder) for setting, holder in changed.items()})
        tell_old_policies(tx, realm_id, {name: now for name, now in after.items() if now != before[name]})
    return set(changed)
