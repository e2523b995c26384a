"""Target languages of the export."""
