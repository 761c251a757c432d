"""What the compiler may do with sums and products of floating-point numbers.

`REORDER` lets it add in any order and fuse a product with a sum, which vector instructions need; infinity and NaN
keep their meaning. `REORDER_AND_DIVIDE` also lets it multiply by a reciprocal.
"""

REORDER = {"reassoc", "contract", "nsz"}
REORDER_AND_DIVIDE = REORDER | {"arcp"}
