"""Compiled loops of segmentation and of the choice of edit scripts."""
