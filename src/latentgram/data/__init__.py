"""Symbols, sentences, trees and treebanks: knows no probability."""
