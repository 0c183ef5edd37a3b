"""The pages, as HTML: a file for each step, and `shell` around them."""
