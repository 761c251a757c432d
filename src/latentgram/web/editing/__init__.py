"""Corrections of trees: what is asked of the parser, and what is done by hand."""
