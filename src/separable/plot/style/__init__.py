"""Colors, axes, panels and shapes that the displays share."""
