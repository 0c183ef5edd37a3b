"""The command ``microagg``."""
