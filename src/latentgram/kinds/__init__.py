"""What a kind of model is: its row in the registry, its settings, what it must offer and what it gives back."""
