"""The page for whoever runs the server: of each engine and part whether it is healthy, behind or down, since when, what to do.

It is answered at `/status` of the port of /metrics and /health (kernel/monitor.py), as a page and as JSON: never in public. Web
processes and workers answer it alike, because each asks for itself, on connections of its own (`facts`): what it says does not
hang on the health of the process that says it. What facts mean is decided without I/O (`rules`).
"""
