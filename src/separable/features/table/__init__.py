"""Encoder of tables: one module per column type."""
