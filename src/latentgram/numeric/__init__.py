"""Mathematics shared by several families: semirings, trees, decompositions, clusters, the EM loop."""
