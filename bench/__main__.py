"""`python -m bench`: all benches, one after the other."""

from bench import cluster, commits, following, keeping, memory, pipeline

for bench in (pipeline, cluster, commits, keeping, following, memory):
    bench.main()
