"""Files in and out: read as text, written whole or not at all, and counted again."""
