"""Erasing people, with all that they wrote, and legal holds. Whoever restores a backup repeats it.

An account is never deleted, because messages refer to it: it stays as a number without a name, deactivated for good. An
erasure is a row (`erasure`) that says what is being done and how far it is. Each step is a transaction that moves it on, so
whoever was killed goes on where they stopped: the command, or the worker. To be read in this order: tables.py (what becomes of
each table: the one list), actions.py (the steps), scrubbing.py, messages.py, texts.py; receipt.py says what was done.

Invariants:
- The account is deactivated for good and its access ended in one transaction, the first. Nobody logs in afterwards. It is short,
  so that an owner's request can do it; everything else is the worker's or the command's.
- What a request that was already under way wrote later is taken away by the last step, which repeats the first ones; the
  worker does so once more when no request of that time can be left.
- Every table of the schema has a line in tables.py: a test compares.
- The row of an erasure holds ids, times and numbers, and nothing that names anybody.
- What is under a legal hold is not erased. What is deleted while it is held leaves a copy: the database sees to that.
"""
