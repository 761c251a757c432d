"""Pictures of trees, automata, spectra and curves."""
