"""Campaign folders: source, references and outputs that belong together, in every layout."""
