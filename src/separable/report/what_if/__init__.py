"""The what-if form of the report."""
