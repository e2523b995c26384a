"""Conversions of text columns to numbers, dates and durations: declared, guessed, applied."""
