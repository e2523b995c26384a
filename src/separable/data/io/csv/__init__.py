"""Reader of CSV and other delimited text."""
