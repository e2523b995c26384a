"""Export to SQL."""
