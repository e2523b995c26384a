"""Encoder of tables: one module for each type of column."""
