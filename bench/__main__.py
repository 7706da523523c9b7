"""`python -m bench`: all benches, one after the other."""

from bench import commits, keeping, memory, pipeline

for bench in (pipeline, commits, keeping, memory):
    bench.main()
