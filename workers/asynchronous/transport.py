"""Faust's client of Kafka, told what Faust does not let one tell it: to leave out records of transactions that were
given up or are not ended yet, as every other reader of casetape does."""

from __future__ import annotations

from typing import Any, ClassVar

from faust.transport.drivers import aiokafka as driver


class _Thread(driver.AIOKafkaConsumerThread):
    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        # read when the consumer starts, which is later
        consumer._isolation_level = "read_committed"
        return consumer


class _Consumer(driver.Consumer):
    def _new_consumer_thread(self) -> Any:
        return _Thread(self, loop=self.loop, beacon=self.beacon)


class Transport(driver.Transport):
    """Faust's own, with that consumer."""

    Consumer: ClassVar[Any] = _Consumer
