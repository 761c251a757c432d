"""Mathematics that more than one family needs: semirings, trees, decompositions, clusters, the EM loop."""
