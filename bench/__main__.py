"""`python -m bench`: all benches, one after the other."""

from bench import commits, following, keeping, memory, pipeline

for bench in (pipeline, commits, keeping, following, memory):
    bench.main()
