"""The event log: from a committed change to the queues that hear of it.

- `log/`: what an event is, who hears it, the streams that keep it, and which of them are valid.
- `relay/`: the only writer. It reads committed events out of the write-ahead log, where `tx.emit` puts them.
- `queues/`: the readers. A feed per realm and process follows the streams and serves event queues.

Concurrency: one active relay per database (the replication slot admits one reader), any number of readers; everything
in a process runs on its one event loop.
Lifecycle: a relay works in sessions. Any anomaly ends the session; the next one reads what the streams really hold.
Invariants: the order of a stream is the order of commits; an event is stored once; a sequence number names one event
for as long as its epoch lasts; where that cannot be kept, a new epoch says so. This package knows audiences and no feature
(tests/rules/test_events_know_no_feature.py). docs/explanation/event-log.md tells the whole story.
"""
