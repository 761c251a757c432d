"""How the examples become pages: they run in one process, and what a line shows in a notebook is on the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def pictures(block: object, block_vars: Mapping[str, Any], gallery_conf: Mapping[str, Any]) -> str:
    """The drawing of the last value of a piece of an example, if it has one."""
    del block
    value = block_vars["example_globals"].get("___")
    if not hasattr(value, "_repr_svg_"):
        return ""
    path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
    path.write_text(value._repr_svg_(), "utf-8")
    return str(figure_rst([str(path)], gallery_conf["src_dir"]))
