"""Mail in: an answer to a mail about missed messages becomes a message there, and a channel may have an address of its own.

Invariants: who writes is known by the token in the address and by nothing else, because anybody can write any `From:`. What a
mail becomes is sent as that person through the ordinary way of sending, so their rights are those of this moment. A mail is
answered with success when its message is committed; a second delivery of it sends nothing. What programs answer by themselves
becomes no message. Reading a mail takes time that grows with its length, whatever is in it.
"""
