"""Corrections of trees: those that the parser applies, and those made by hand."""
