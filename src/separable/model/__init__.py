"""The linear model that every learner produces."""
