"""Charts of the report."""
