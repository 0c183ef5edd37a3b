"""What an engine is: every operation once, with its types and its contract."""

from collections.abc import Callable

Progress = Callable[[float], None]
"""Called with the fraction done, from 0 to 1."""

Watch = Callable[[float, float], None]
"""Called with the fraction done and the sum of squares, or loss, so far."""
