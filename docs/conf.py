"""How the documentation is built: `make docs`."""

from latentgram import __version__

project = "latentgram"
author = "The latentgram authors"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "latentgram"
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
default_role = "code"
suppress_warnings = [
    "docutils",  # docstrings are written for people and terminals first
    "ref.python",  # what invariants of arrays speak of (`words`, `tags`) is a field of many classes
]
