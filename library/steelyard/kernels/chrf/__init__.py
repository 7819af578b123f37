"""N-grams of characters and words that translations share with their references."""
