"""The relay: carries committed events from PostgreSQL's write-ahead log into the streams, in commit order.

Invariants: it is the only writer; an event is stored once, under the number that follows the one before; PostgreSQL may
forget only what is stored, has rested and is in the checkpoint; any failure ends the session, and what the streams hold is
then read, never assumed.

Read `process.py` first (sessions, one after the other), then `session.py` (one of them), `continuity.py` (can the streams
be continued, or does a new epoch begin?) and `pipeline.py` (the work). The pipeline's parts: `replication.py` and `wal.py`
read the slot, `publisher.py` writes, `in_flight.py` knows what may be confirmed, `checkpoint.py` is the memory in
PostgreSQL. `connection.py` and `metrics.py` are what they say.
"""
