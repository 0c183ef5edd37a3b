"""Every method once more in plain Python, independent of the library."""
