"""The one exception that bad input raises, and the warning about data that look wrong."""

import os


def reason(error: OSError) -> str:
    """Why the system refused, in its own words; Arrow puts more around them."""
    return os.strerror(error.errno) if error.errno else error.strerror or str(error)


def values_are(count: int, of: object = "") -> str:
    """'1 value is', '7 values are', '7 values of FILE are'."""
    one = count == 1
    return f"{count} value{'' if one else 's'}{f' of {of}' if of else ''} {'is' if one else 'are'}"


class InputError(ValueError):
    """The data or an option cannot be used; the message says what, where and what to do.

    It is one line, whatever stands in the names that it quotes.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(" ".join(str(message).splitlines()))


class DataWarning(UserWarning):
    """The data can be used but hold something that is probably a mistake."""
