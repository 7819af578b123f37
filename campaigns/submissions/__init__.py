"""Submissions: admission, the uploaded file and what is declared of it, progress, and views of them afterwards."""
