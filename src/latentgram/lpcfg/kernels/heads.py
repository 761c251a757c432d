"""The heads of the nodes of binarised trees, from those of the nodes of the treebank.

With o(v) the lowest node of the treebank that is v or above it, h(o) the word that is its head, and added nodes
(`@X`) those that binarisation put in,

    head(v) = h(v)                                       for a node of the treebank,
    head(v) = h(o(v))                                    for an added node, where that word is below v,
    head(v) = h(child of v that is no added node)        for any other.

One pass over the nodes in preorder.
"""

import numpy as np

from latentgram.compiling import njit


@njit()
def head_words(added, head_word, left, right, parent, before, width):
    """[nodes] the place in its sentence of the head of each node.

    `head_word` are those of the nodes that are not `added`, in their order; `before` and `width` [nodes] the words
    before and below each node.
    """
    own, owner = np.zeros(added.size, np.int64), np.arange(added.size)
    filled = 0
    for v in range(added.size):
        if added[v]:
            owner[v] = owner[parent[v]]
        else:
            own[v] = head_word[filled]
            filled += 1
    head = own.copy()
    for v in range(added.size):
        if added[v]:
            head[v] = own[owner[v]]
            if not before[v] <= head[v] < before[v] + width[v]:
                head[v] = own[left[v] if added[right[v]] else right[v]]
    return head
