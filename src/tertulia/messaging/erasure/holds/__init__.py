"""Legal holds: what is held is not erased, and what is deleted meanwhile leaves a copy that only owners and the operator get.

The copies are made by the database itself, in the transaction that deletes (migrations/versions/0012_erasure.py). They go when
nothing holds them any more.
"""
