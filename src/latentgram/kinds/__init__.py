"""Kinds of models: their rows in the registry, their settings, what they must provide, and what they return."""
