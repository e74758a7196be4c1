"""Reads an archive that anybody may have written, and believes nothing of it.

The tar is read by own code, header by header: what is no plain file is refused, and no name leads anywhere, because an entry
has one of few names and none is ever opened. Every size is bounded before it is read. A line is decoded into its type.
"""
