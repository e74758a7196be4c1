"""HTML of messages from before readers were private."""
