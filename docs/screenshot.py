"""The picture of a report in the README: the top of the page, as Chromium shows it.

python docs/screenshot.py demo/report.html docs/report.png
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

WIDTH, HEIGHT = 1280, 820


def draw(report: Path, picture: Path) -> None:
    """Take the picture, with few colours: it is smaller then."""
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}",
            f"--screenshot={shot}",
        ]  # fmt: skip
        subprocess.run(["chromium", *options, report.resolve().as_uri()], check=True)
        with Image.open(shot) as image:
            image.convert("RGB").quantize(64).save(picture, optimize=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
