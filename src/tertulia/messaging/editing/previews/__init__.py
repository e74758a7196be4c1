"""Messages sent before the thumbnails of their pictures were there."""
