"""Options, help texts and shell completion that several commands share."""
