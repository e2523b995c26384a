"""Export to Python without dependencies."""
