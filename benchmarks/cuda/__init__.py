"""What can be known of the CUDA engine without a GPU; `benchmarks.cuda_report` prints it."""
