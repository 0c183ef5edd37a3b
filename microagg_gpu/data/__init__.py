"""Tables in: a matrix of numbers, what each column is for, and who may be grouped with whom."""
