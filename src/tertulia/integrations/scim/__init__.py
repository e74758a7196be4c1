"""SCIM 2.0 (RFC 7643, RFC 7644): an identity provider keeps an organization's people and groups.

It calls `/scim/v2` with a token of the organization. All it does goes through the actions of users and groups, as a
`DirectoryClient`: with their locks, rules and events. This feature stores only the tokens, and what the provider calls people
and groups (`scim_user`, `scim_group`).

Invariants:
- People and named groups are in reach; bots, system groups and other organizations look like what does not exist.
- Roles are out of reach: a directory makes members, and never makes, demotes or deactivates an owner.
- A token is stored as a digest and is worth something at the host of its organization only.
- To delete is to deactivate: nothing that somebody wrote is lost. To the provider a deleted resource is gone, and making it
  again brings it back.

The protocol's grammar and schemas are of the library scim2-models (the extra `scim`); without it there are tokens, but no
`/scim/v2`.
"""
