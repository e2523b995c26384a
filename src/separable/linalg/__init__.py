"""Linear algebra that learners and geometry share."""
