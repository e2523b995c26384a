"""Pictures of models, data and validation, and of the lectures, by matplotlib."""
