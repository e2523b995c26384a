"""What learners of every family share."""
