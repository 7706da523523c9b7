"""One Apache Kafka broker in KRaft mode, from the jars that install.sh fetches."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from tests.servers.process import ServerProcess, free_ports

JARS = Path(__file__).parent / "jars"
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners={protocol}://127.0.0.1:{port},INSIDE://127.0.0.1:{inside},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={protocol}://127.0.0.1:{port},INSIDE://127.0.0.1:{inside}
controller.listener.names=CONTROLLER
inter.broker.listener.name=INSIDE
listener.security.protocol.map={protocol}:{protocol},INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
group.min.session.timeout.ms=1000
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=1000
log.segment.delete.delay.ms=1000
"""


def missing() -> str | None:
    """What a broker here lacks, in words; None where it can be started."""
    if shutil.which("java") is None:
        return "no `java` to start Apache Kafka with"
    if not any(JARS.glob("kafka_2.13-*.jar")):
        return "no Kafka jars: run tests/servers/install.sh"
    return None


class KafkaServer(ServerProcess):
    """A broker with its data under `folder`. `settings`: further lines of its properties."""

    def __init__(
        self, folder: Path, *, protocol: str = "PLAINTEXT", settings: Mapping[str, str] | None = None, heap: int = 512
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port, inside, controller = free_ports(3)
        self.address = f"127.0.0.1:{port}"
        self.inside = f"127.0.0.1:{inside}"
        """A listener without a password, whatever `protocol` asks of clients."""
        self._file = folder / "server.properties"
        lines = _PROPERTIES.format(protocol=protocol, port=port, inside=inside, controller=controller, folder=folder)
        further = "".join(f"{name}={value}\n" for name, value in (settings or {}).items())
        self._file.write_text(lines + further)
        # quick to start, for short lives on few cores
        self._java = ["java", f"-Xmx{heap}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*"]
        super().__init__(folder, [*self._java, "kafka.Kafka", str(self._file)], self._answering)
        self._format()

    def _format(self) -> None:
        tool = [*self._java, "kafka.tools.StorageTool", "format", "--standalone", "-t", _CLUSTER, "-c", str(self._file)]
        done = subprocess.run(tool, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr or done.stdout

    def _answering(self) -> bool:
        try:
            admin = KafkaAdminClient(bootstrap_servers=self.inside, bootstrap_timeout_ms=1_000)
        except KafkaError:
            return False
        try:
            brokers = admin.describe_cluster()["brokers"]
            return bool(brokers) and not any(broker["is_fenced"] for broker in brokers)
        except KafkaError:
            return False
        finally:
            admin.close()
