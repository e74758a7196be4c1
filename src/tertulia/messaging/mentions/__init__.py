"""What the names in a message stand for, and whom it concerns: people, groups, whole channels, owners of alert words.

Invariants: a message without names in it takes no statement here; one with names takes one, shared with others sent at the
same moment; a name the sender does not reach stands for nothing.
"""
