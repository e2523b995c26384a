"""Readers of files and streams: CSV, JSON lines, Parquet, svmlight and Vowpal Wabbit text."""
