"""`python -m bench`: all benches, one after the other."""

from bench import commits, memory, pipeline

for bench in (pipeline, commits, memory):
    bench.main()
