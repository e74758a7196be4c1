"""Writing HTML: text and attributes, escaped once, in the form the sanitizer would write them itself."""


def escape(text: str) -> str:
    """Text between tags. Quotes stay as they are."""
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    return text


def escape_attribute(text: str) -> str:
    """The value of an attribute, inside double quotes."""
    return escape(text).replace('"', "&quot;")
