"""The way of the data: problem, grouping, partition, publishing, refinement, result."""
