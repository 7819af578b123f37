"""What is odd about an output: shifted, copied, empty and repeated lines, another language, damaged characters."""
