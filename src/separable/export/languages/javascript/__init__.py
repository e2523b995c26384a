"""Export to JavaScript."""
