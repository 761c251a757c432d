"""From data to models: learners, recipes and fit."""
