"""The one exception that bad input raises."""


class InputError(ValueError):
    """The data or an option cannot be used; the message says what, where and what to do."""
