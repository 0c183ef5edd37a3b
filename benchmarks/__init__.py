"""Comparisons with published figures; not part of the installed package."""
