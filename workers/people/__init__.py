"""What people put on the tape: their word on a case, and more to go on."""
