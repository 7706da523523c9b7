"""Real servers for tests: Apache Kafka and Redis, found or started."""
