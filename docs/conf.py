"""How the documentation is built: `make docs`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import api_pages
import gallery

from latentgram import __version__

project = "latentgram"
author = "The latentgram authors"
copyright = "2026, The latentgram authors"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "formulas",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "latentgram"
html_show_sourcelink = False
templates_path = ["_templates"]
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
default_role = "code"
suppress_warnings = [
    "docutils",  # docstrings are written for people and terminals first
    "ref.python",  # what invariants of arrays speak of (`words`, `tags`) is a field of many classes
    "config.cache",  # the scraper of the gallery is a function, which is not pickled
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_",
    "image_scrapers": (gallery.pictures,),
    "capture_repr": ("_repr_html_",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "copyfile_regex": r".*\.rst",
}
api_pages.write_index(HERE / "api")


def setup(app):
    app.connect("autodoc-process-docstring", api_pages.add_layout)
    app.connect("object-description-transform", api_pages.plain_types, priority=400)  # before they are written
