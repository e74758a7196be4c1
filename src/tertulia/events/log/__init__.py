"""The log: what an event is, who hears it, the streams it is kept in and which of them are valid.

Knows audiences and no feature. The relay writes it, the queues read it; what both need is here.

Invariants: a record is decoded by whoever presents it: here its `event` and `stamp` stay the bytes they are. Nothing that
JetStream did not say is taken for known (jetstream.py).

Read `record.py` first, then `stream.py` (names, subjects, ways of reading) and `epoch.py` (which streams count);
`snapshot.py` decides what a registration has seen already. `ranges.py` are sets of numbers, `signals.py` events that nobody
stores, `jetstream.py` and `buckets.py` what is asked of NATS.
"""
