"""The page in the browser, ``microagg app``: a view of the command's settings and results."""
