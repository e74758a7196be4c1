"""Taking a channel out of use, and back."""
