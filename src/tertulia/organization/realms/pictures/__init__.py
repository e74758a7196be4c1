"""An organization's icon and logos."""
