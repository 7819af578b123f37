"""Submissions: admission, the uploaded file and its declaration, progress, and views of them."""
