"""The report of one protection: its content as plain values, and as one HTML file."""

from .content import describe
from .html import page

__all__ = ["describe", "page"]
