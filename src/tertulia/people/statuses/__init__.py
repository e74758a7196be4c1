"""Statuses: what somebody says they are up to, in a few words and an emoji.

`away` is an older word for not wanting to be seen: it is the inverse of the setting `presence_enabled` and nothing of its
own. Invariant: whoever changes a status holds the account, so that the last event says what is stored.
"""
