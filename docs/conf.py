"""Settings of the documentation site. `make docs` builds it offline, with warnings as errors."""

import shutil
import sys
from importlib.metadata import version as installed
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

HERE = Path(__file__).parent

project = "microagg_gpu"
author = "the microagg_gpu contributors"
copyright = "the microagg_gpu contributors, BSD-3-Clause"
version = release = installed("microagg-gpu")

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["generated/*.md"]
default_role = "py:obj"
smartquotes = False  # it would turn the two hyphens of an option into a dash

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings contain the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_execution_show_tb = True
nb_merge_streams = True
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_ipywidgets_js = {}  # nothing from the network
# The heading levels of result files are those of the programs that wrote them.
suppress_warnings = ["myst.header"]

html_theme = "pydata_sphinx_theme"
html_title = "microagg_gpu"
html_math_renderer = "mathml"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
# Pages without subpages need no sidebar.
html_sidebars = {name: [] for name in ("index", "gallery", "contribute")}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "microagg_gpu"},
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _mathml(self, node, block: bool) -> None:
    """Formulas as MathML (by docutils), which browsers draw without a script."""
    try:
        text = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula: %s", error, location=node)
        text = self.encode(node.astext())
    self.body.append(f'<div class="formula">{text}</div>\n' if block else text)
    raise nodes.SkipNode


def setup(app) -> None:
    """Register the formulas, and generate the parts of the site that depend on the code."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda self, node: _mathml(self, node, False), None),
        block_renderers=(lambda self, node: _mathml(self, node, True), None),
    )
    sys.path.insert(0, str(HERE))
    import figures
    import generate

    generated = HERE / "generated"
    generated.mkdir(exist_ok=True)
    generate.write(generated)
    figures.draw(generated)
    # Sphinx reads only its own folder. Copies keep their times, so that only changed files rerun.
    for source in ("notebooks", "benchmarks/results"):
        copies = HERE / Path(source).name
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir()
        for file in (HERE.parent / source).glob("*"):
            if file.suffix in (".ipynb", ".md", ".png"):
                shutil.copy2(file, copies)
