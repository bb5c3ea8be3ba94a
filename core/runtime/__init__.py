"""Where and how models run; knows nothing about faces."""
