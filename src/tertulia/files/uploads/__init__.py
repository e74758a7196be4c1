"""Files that people upload: stored as objects, known by a row, and linked by messages.

A file is its owner's alone until a message links it; from then on whoever may read one of those messages may read the file.
The row is the truth: an object without one is nobody's and is swept (`orphan_object`), and the space an organization uses is
counted in the transaction that writes the row.
"""
