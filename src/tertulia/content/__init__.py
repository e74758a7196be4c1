"""Content: text to HTML, emoji, pictures, stored objects, the built web client. Knows neither people nor the database."""
