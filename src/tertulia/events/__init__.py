"""The event log: from a committed change to the queues that hear of it.

Write side: `tx.emit` puts an event into the write-ahead log; the relay (relay.py) reads it there and is the only writer
of the JetStream streams (stream.py), whose validity is named by the epoch record (epoch.py). Read side: a feed per
process follows the streams and serves event queues.

Concurrency: one active relay per database (the replication slot admits one reader), any number of readers; everything
in a process runs on its one event loop.
Lifecycle: a relay works in sessions. Any anomaly ends the session; the next one reads what the streams really hold.
Invariants: the order of a stream is the order of commits; an event is stored once; a sequence number names one event
for as long as its epoch lasts; where that cannot be kept, a new epoch says so. This package knows no feature.
"""
