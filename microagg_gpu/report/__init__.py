"""The report on protected data: its content as plain values, and as a single HTML file.

The note is a second page, for the users of the published data.
"""

from .content import describe
from .html import page
from .note import note

__all__ = ["describe", "note", "page"]
