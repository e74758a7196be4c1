"""Files on their way to readers: who may have one is asked each time, and what a browser may do with it is said each time.

A file comes from a stranger. A browser shows only the few kinds that files/uploads/kinds.py knows by heart; everything else is
downloaded, as bytes of no kind, and nothing that is served here may run a script or be taken for something else.
"""
