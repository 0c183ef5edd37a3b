"""The report on protected data: its content as plain values, and as a single HTML file."""

from .content import describe
from .html import page

__all__ = ["describe", "page"]
