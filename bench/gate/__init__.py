"""The gate for cost: what hot paths cost, compared with what they cost when `bench/baseline.json` was recorded.

Invariants:
- Processor time is never compared by itself, only as a ratio to a reference that was measured in the same run, in turns
  with it: the least that PostgreSQL can do for the same rows, and an answer of bare uvicorn. So another machine, or one
  that is busy, gives the same figures.
- Statements, rows and bytes of the write-ahead log are counted, not timed.
- The server is seen from outside (HTTP, PostgreSQL's log and write-ahead log, the kernel's clocks). Nothing here imports
  a feature, so the same gate measures an older tree.
"""
