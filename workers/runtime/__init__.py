"""How services run on one machine: a host's loop, child processes, and who looks after them."""
