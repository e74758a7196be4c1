"""What people have read grows with the messages there are."""

from tertulia.kernel.bounds import Otherwise

READ_STATE = Otherwise(
    tables=("read_state", "message_mark"),
    because="one for each person and conversation, and for each message that somebody marked",
)

ALL = (READ_STATE,)
