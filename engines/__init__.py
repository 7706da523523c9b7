"""Two ports, EventLog and StateStore, and the adapters behind them."""
