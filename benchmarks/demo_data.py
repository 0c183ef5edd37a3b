"""Write the simulated file of ``make demo``: a survey of companies, as an office might hold it.

``python -m benchmarks.demo_data FILE.csv`` writes the file.
"""

import argparse
from pathlib import Path

from microagg_gpu.datasets.survey import write

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="the file to write")
    path = parser.parse_args().path
    print(f"{path}: {write(path)} simulated companies")
