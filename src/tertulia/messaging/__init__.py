"""Messages: sending, reading, changing and marking them, and what is prepared to be sent later."""
