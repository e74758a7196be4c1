"""Pictures that people bring, made to fit: read by Pillow, scaled, and written anew; and where they are kept.

What is stored is never what was sent: a picture is decoded and encoded again, so nothing else that a file may carry (another
format, a script, a place on the map) comes through. Invariants: only five formats are read; a picture's size is known from
its header before it is decoded, and too large a one is refused; decoding happens in a process of its own (apart.py).

Nothing is imported here: that process begins anew for each picture, and what it does not need would be most of its time.
"""
