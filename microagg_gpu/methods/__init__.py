"""The methods of the five papers: one file per family, and the table of all of them."""

from .registry import METHODS, Method, check_names

__all__ = ["METHODS", "Method", "check_names"]
