"""What a model computes, independent of the target language."""
