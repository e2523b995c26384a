"""Figures of the lectures."""
