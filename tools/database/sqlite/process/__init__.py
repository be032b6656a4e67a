"""Queries in child processes, which the kernel holds to their limits.

SQLite can be interrupted between the steps of a program, but not while it compiles one or works inside a function, and
its memory and temporary files belong to the whole process. So a query from outside runs in a worker: a small process
whose address space, processor time and temporary files are bounded by the kernel, and which is killed once its time is
up. A *nursery*, which has loaded what workers need and holds no data, forks them; each keeps its connection from query
to query. What a worker says is read as data from an untrusted side.
"""
