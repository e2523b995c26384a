"""Anything to rows: arrays, sparse matrices, frames and files."""
