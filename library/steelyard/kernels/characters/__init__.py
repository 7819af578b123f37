"""Characters: whether they are UTF-8 and in NFC, lowercased, and searched for entities."""
