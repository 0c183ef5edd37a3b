"""The whole way in Chromium: with a mouse, with keys, small, dark, and when it fails.

``MICROAGG_PICTURES=docs/app pytest tests/app/test_browser.py -k "flow and 1280 or 200_000"`` takes
the pictures of the site anew.
"""

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from microagg_gpu.datasets.survey import write as write_survey

pytestmark = pytest.mark.app
LONG = 120_000  # milliseconds: the first run of a method compiles it
ROOT = Path(__file__).resolve().parents[2]
WIDE, SMALL = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def opened(browser, app, viewport=WIDE, scheme="light", enter=True):
    """A page of the app. Any request to elsewhere, and any error of a script, fails the test."""
    context = browser.new_context(
        viewport=viewport, color_scheme=scheme, reduced_motion="reduce", accept_downloads=True
    )
    page, wrong = context.new_page(), []
    page.set_default_timeout(LONG)
    own = (app.origin, "data:", "blob:")
    context.on("request", lambda r: r.url.startswith(own) or wrong.append(f"request of {r.url}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: m.type == "error" and "Policy" in m.text and wrong.append(m.text))
    if enter:
        page.goto(app.entrance)
        ready(page)
    yield page
    context.close()
    assert not wrong


def ready(page):
    """Wait until the scripts of a page have run: until then nobody can do anything on it."""
    page.wait_for_function("() => document.querySelector('#title') && !document.body.inert")


def picture(page, name):
    folder = os.environ.get("MICROAGG_PICTURES")
    if folder:
        from PIL import Image

        path = Path(folder) / f"{name.removesuffix('-1280')}.png"
        page.screenshot(path=path, full_page=True)
        with Image.open(path) as image:  # with few colours it is smaller
            image.convert("RGB").quantize(64).save(path, optimize=True)


def check_page(page, name, schemes=("light", "dark")):
    """The focus is on the heading, nothing overflows, and axe finds nothing."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(page).response["violations"]
        said = [f"{v['id']}: {v['nodes'][0]['html']}" for v in found]
        assert not said, (name, scheme, said)
    page.emulate_media(color_scheme="light")


def settled(page):
    """Wait until the figures are those of the settings."""
    page.wait_for_function(
        "() => document.querySelector('#part-live .figure')"
        " && !document.querySelector('#part-live .stale')"
        " && !document.querySelector('#part-status .chip')"
    )


def heading(page, text):
    """Wait for a page with this heading; the focus comes to it."""
    page.wait_for_function(
        "text => document.querySelector('h1')?.textContent === text"
        " && document.activeElement.id === 'title'",
        arg=text,
    )


@pytest.mark.parametrize("viewport", [WIDE, SMALL], ids=["1280", "390"])
def test_the_whole_flow(browser, app, tmp_path, viewport):
    width = viewport["width"]
    with opened(browser, app, viewport) as page:
        heading(page, "Open a file")
        check_page(page, "open")
        picture(page, f"open-{width}")
        page.click("#sample")
        heading(page, "What is each column?")
        assert page.input_value("[data-column=id]") == "drop"
        assert page.input_value("[data-column=region]") == "stratum"
        assert page.input_value("[data-column=weight]") == "weight"
        assert page.input_value("[data-column=energy]") == "protect"
        summary = page.inner_text("#summary")
        assert summary.startswith(
            "8 to protect · 2 strata in 12 combinations, smallest 128 records"
        )
        check_page(page, "columns")
        picture(page, f"columns-{width}")
        page.select_option("[data-column=id]", "keep")
        page.wait_for_selector("text=id has a different value in every record")
        page.wait_for_selector("text=Published as they are, these columns break k")
        check_page(page, "columns with warnings", schemes=["dark"])
        page.select_option("[data-column=id]", "drop")
        page.wait_for_function("() => !document.querySelector('#state .notice')")
        page.click("#next")
        heading(page, "How large should groups be?")
        settled(page)
        assert "k = 10 is not possible" in page.inner_text("#part-limit")
        assert page.inner_text("#part-live .figure >> nth=0") == "21.7\N{NO-BREAK SPACE}%"
        page.fill("#k-number", "4")
        page.wait_for_selector("text=no more than 25.0\N{NO-BREAK SPACE}% is possible")
        page.fill("#k-number", "5")
        page.select_option("#method", "centroid")
        page.wait_for_selector("text=Thick line: centroid.")
        settled(page)
        page.wait_for_selector("text=loses least of the 5 tried at k = 5")
        page.wait_for_selector("text=can lose less than 18.9")
        check_page(page, "explore")
        picture(page, f"explore-{width}")
        page.select_option("#variable", "exports")
        assert page.is_visible("[data-variable='4']")
        assert not page.is_visible("[data-variable='0']")
        page.click("text=Both charts as a table")
        page.click("#tab-given")
        assert "PASS" in page.inner_text("#part-given")
        check_page(page, "given away")
        picture(page, f"given-{width}")
        page.click("#tab-tries")
        assert page.locator("#part-tries tbody tr").count() == 3
        check_page(page, "tries")
        picture(page, f"tries-{width}")
        page.click("#part-tries [data-back='0']")
        page.wait_for_selector("text=Thick line: mdav.")
        settled(page)
        assert page.input_value("#method") == "mdav"
        page.check("#refine")
        settled(page)
        page.click("#protect")
        page.wait_for_url("**/protect")
        if page.locator(".phase").count():
            picture(page, f"protect-{width}")
        heading(page, "Protected and counted")
        assert "PASS" in page.inner_text(".verdict")
        check_page(page, "result")
        picture(page, f"result-{width}")
        with page.expect_download() as download:
            page.click("a[href='files/data']")
        assert download.value.suggested_filename == "companies-k5.csv"
        download.value.save_as(tmp_path / "downloaded.csv")
        with page.context.expect_page() as report:
            page.click("a[href='files/report'] >> nth=0")
        report.value.wait_for_selector("text=Microaggregation report")
        assert page.inner_text("#text-command").startswith("microagg protect companies.csv -k 5")
        command = page.inner_text("#text-command")
        page.click("#tab-python")
        script = page.inner_text("#text-python")
        note = page.request.get(page.url.replace("result", "files/note"))
        assert "How this file was protected" in note.text()
        assert "style-src 'unsafe-inline'" in note.headers["content-security-policy"]
    again(tmp_path, command, script)


def again(folder, command, script):
    """The command and the script write the file that was downloaded, byte for byte."""
    expected = (folder / "downloaded.csv").read_bytes()
    assert len(expected) > 100_000
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = shlex.split(command.replace("\\\n", ""))
    for name, run in (("command", ["-m", "microagg_gpu", *words[1:]]), ("script", ["-c", script])):
        (folder / name).mkdir()
        write_survey(folder / name / "companies.csv")
        subprocess.run(
            [sys.executable, *run], cwd=folder / name, env=own, check=True, capture_output=True
        )
        assert (folder / name / "companies-k5.csv").read_bytes() == expected, name


def test_with_keys_only(browser, app):
    with opened(browser, app) as page:

        def to(selector):
            for _ in range(80):
                page.keyboard.press("Tab")
                if page.evaluate("s => document.activeElement.matches(s)", selector):
                    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                    assert outline != "none", selector
                    return
            raise AssertionError(f"no way to {selector}")

        heading(page, "Open a file")
        to("#sample")
        page.keyboard.press("Enter")
        heading(page, "What is each column?")
        to("[data-column=profit]")
        page.keyboard.press("End")  # leave out
        page.wait_for_function(
            "() => document.querySelector('#summary').textContent.startsWith('7')"
        )
        to("#next")
        page.keyboard.press("Enter")
        heading(page, "How large should groups be?")
        settled(page)
        to("#k")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("text=no more than 16.7\N{NO-BREAK SPACE}% is possible")
        settled(page)
        to("#tab-variables")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.is_visible("#part-tries")
        to("[data-back]")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('#k-number')?.value === '5'")
        to("#protect")
        page.keyboard.press("Enter")
        heading(page, "Protected and counted")
        to("#quit")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        to("#quit")
        page.keyboard.press("Enter")
        to("#quit-yes")
        page.keyboard.press("Enter")
        heading(page, "The app has ended")
    assert app.process.wait(60) == 0


def large_file(path, n=200_000):
    rng = np.random.default_rng(1)
    base = rng.lognormal(5, 1, n)
    rows = (
        f"{i},{'NESW'[i % 4]},{base[i] * a:.1f},{base[i] * b:.1f},{c}\n"
        for i, (a, b, c) in enumerate(
            zip(*rng.lognormal(0, 0.5, (2, n)), rng.integers(1, 90, n), strict=True)
        )
    )
    path.write_text("id,region,turnover,wages,staff\n" + "".join(rows))


def test_200_000_rows_and_cancel_in_the_middle(browser, app):
    large_file(app.start / "large.csv")
    with opened(browser, app) as page:
        page.fill("#path", "large.csv")
        page.keyboard.press("Enter")
        heading(page, "What is each column?")
        page.click("#next")
        heading(page, "How large should groups be?")
        settled(page)
        assert "a random sample of 20,000 of the 200,000 records" in page.inner_text(
            ".sub >> nth=0"
        )
        check_page(page, "explore a sample", schemes=["light"])
        page.check("#refine")
        page.click("#protect")
        page.wait_for_url("**/protect")
        page.wait_for_selector("li.now >> text=/mdav|Mdav|Refining|ompiling/")
        check_page(page, "protect")
        picture(page, "protect-1280")
        with page.expect_event("dialog") as asked:  # closing the page asks before work is lost
            page.close(run_before_unload=True)
        assert asked.value.type == "beforeunload"
        asked.value.dismiss()
        page.click("#cancel")
        page.wait_for_selector("text=Nothing was written.", timeout=10_000)
        assert not list(app.session_folder().glob("job-*"))
        check_page(page, "cancelled")
        page.click("text=Back to the settings")
        heading(page, "How large should groups be?")
        page.uncheck("#refine")
        settled(page)
        page.click("#protect")
        heading(page, "Protected and counted")
        assert "200,000 records" in page.inner_text(".verdict")


SURVEY = "area;income;age\n" + "".join(f"{'ab'[i % 2]};{i * 37 % 101},{i % 10};{i % 60}\n"
                                       for i in range(120))  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"a,b\n", "has a header and no records"),
        ("twice.csv", b"a,a\n1,2\n", "appear twice"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "has 3 cells and the header 2"),
        ("quote.csv", b'a,b\n"1,2\n', "quot"),
        ("book.xlsx", b"PK\3\4\0\0", "cannot be read as Excel"),
        ("nul.csv", b"a,b\n1,\0\n", "not a text file"),
        ("broken.parquet", b"PAR1....PAR1", "cannot be read as Parquet"),
        ("broken.csv.gz", b"no gzip", "not a gzip file"),
        ("<b onclick=x>.csv", b"", "<b onclick=x>.csv is empty"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(browser, app, name, content, said):
    with opened(browser, app) as page:
        page.set_input_files("#file", [{"name": name, "mimeType": "text/csv", "buffer": content}])
        page.wait_for_selector("#state .notice")
        assert said in page.inner_text("#state")
        check_page(page, name, schemes=["light"])
        page.click("#sample")  # and it goes on
        heading(page, "What is each column?")


def test_repairs_are_buttons(browser, app):
    with opened(browser, app) as page:
        latin = SURVEY.replace("area", "région").encode("latin-1")
        page.set_input_files("#file", [{"name": "s.csv", "mimeType": "text/csv", "buffer": latin}])
        page.click("text=Read it as latin-1 >> nth=-1")
        heading(page, "What is each column?")
        assert "région" in page.inner_text("table.cols")
        assert page.input_value("[data-column=income]") == "drop"
        assert "income holds numbers with a comma" in page.inner_text("#state")
        check_page(page, "decimal comma", schemes=["light"])
        page.click("text=Read it with a comma as decimal mark")
        heading(page, "What is each column?")
        page.wait_for_function(
            "() => document.querySelector('[data-column=income]').value === 'protect'"
        )
        page.click("#next")
        heading(page, "How large should groups be?")
        settled(page)
        page.fill("#k-number", "61")
        page.wait_for_selector("text=fewer than k=61 records")
        check_page(page, "strata too small", schemes=["light"])
        picture(page, "problem-1280")
        page.click("text=Merge each with the nearest stratum >> nth=-1")
        page.wait_for_selector("text=no more than 1.6\N{NO-BREAK SPACE}% is possible")
        settled(page)
        page.click("#protect")
        heading(page, "Protected, but not in all columns")
        assert "--small-strata merge" in page.inner_text("#text-command")
        assert "--decimal ," in page.inner_text("#text-command")
        assert "--encoding latin-1" in page.inner_text("#text-command")


def test_html_in_names_and_values(browser, app):
    evil = "<img src=x onerror=\"document.title='hit'\">"
    quoted = '"' + evil.replace('"', '""') + '"'
    rows = "".join(f"{quoted if i % 2 else '<b>b</b>'},{i % 9},{i * 7 % 11}\n" for i in range(60))
    text = f'<script>alert(1)</script>,{quoted},"a\'""&amp;<x>"\n{rows}'
    with opened(browser, app) as page:
        page.set_input_files(
            "#file", [{"name": f"{evil}.csv".replace("/", ""), "mimeType": "text/csv",
                       "buffer": text.encode()}]
        )  # fmt: skip
        heading(page, "What is each column?")
        assert evil in page.inner_text("table.cols")
        page.click("#next")
        heading(page, "How large should groups be?")
        settled(page)
        page.click("#tab-given")
        page.click("#protect")
        page.wait_for_url("**/result")
        for _ in range(2):
            assert page.locator("main img").count() == 0
            assert page.locator("main script, main b > b, main x").count() == 0
            assert "hit" not in page.title()
            page.goto(page.url.replace("result", "files/report"))


def test_ordered_categories(browser, app):
    rows = "".join(f"{i * 13 % 50},{['low', 'mid', 'high'][i % 3]},{i % 7}\n" for i in range(90))
    (app.start / "people.csv").write_text("income,level,house\n" + rows)
    with opened(browser, app) as page:
        page.fill("#path", "people.csv")
        page.keyboard.press("Enter")
        heading(page, "What is each column?")
        page.select_option("[data-column=level]", "ordinal")
        page.fill("[data-order=level]", "low < mid < high")
        page.click("#next")
        heading(page, "How large should groups be?")
        settled(page)
        assert page.is_disabled("#refine")
        page.click("#protect")
        page.wait_for_url("**/result")
        assert "--ordinal 'level=low<mid<high'" in page.inner_text("#text-command")


def test_nothing_is_lost_before_the_scripts_have_run(browser, app):
    """On a busy machine Enter came before the script: the browser sent the form by itself."""
    with opened(browser, app, enter=False) as page:
        held = []
        page.route("**/open.js", lambda route: held.append(route))
        page.goto(app.entrance, wait_until="commit")
        page.wait_for_selector("#path")
        address = page.url
        page.evaluate("document.querySelector('#path').focus()")
        page.keyboard.type("people.csv")
        page.keyboard.press("Enter")
        page.mouse.click(*(page.locator("#sample").bounding_box()[side] + 5 for side in "xy"))
        assert page.input_value("#path") == ""
        assert page.url == address
        held[0].continue_()
        heading(page, "Open a file")
        page.click("#sample")
        heading(page, "What is each column?")


def test_a_file_of_the_command_line_and_a_server_that_is_gone(browser, start_app, tmp_path):
    write_survey(tmp_path / "mine.csv")
    app = start_app(str(tmp_path / "mine.csv"))
    with opened(browser, app) as page:
        heading(page, "What is each column?")
        assert "mine.csv" in page.inner_text("header")
        app.end()
        page.wait_for_selector("text=microagg app is not running any more")


def test_entering_from_a_page_of_another_site(browser, app, tmp_path):
    """As from the file that the command opens: the cookie is sent on the way in all the same."""
    link = tmp_path / "link.html"
    link.write_text(f'<meta http-equiv="refresh" content="0; url={app.entrance}">')
    page = browser.new_page()
    page.goto(link.as_uri())
    page.wait_for_url("**/open")
    heading(page, "Open a file")
    page.close()


def test_every_chart_has_its_table():
    """Charts are figures; below each, or below their row, is a table that can be opened."""
    text = "".join(
        path.read_text("utf-8")
        for path in sorted((Path(ROOT) / "microagg_gpu/app/pages").glob("*.py"))
    )
    for chart, words in (
        ("histogram(", "Histograms as a table"),
        ("by_k(", "Both charts as a table"),
        ("densities(", "Chart as a table"),
    ):
        assert chart in text
        assert words in text
