"""The services as processes: each module is started by the supervisor with its options as a line of JSON."""
