"""POST /register: the state now, and a queue that delivers each later change exactly once.

Here, above all features, because its parameters are words of theirs: what a client lets the state and the events look like.
The state itself is put together from the features' parts (events/queues/initial_state.py), the queue is made by the gateway.
`request.py` holds what a client may say, `routes.py` the endpoint and its steps.
"""
