"""What people think of translations: their judgments read from files, and the scores made of them."""
