"""What is done to files, whoever asks for it: the command or the page in the browser."""
