"""The report of one protection: its content as plain values, and as one HTML file."""

from .content import describe
from .page import page

__all__ = ["describe", "page"]
