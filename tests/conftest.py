"""How much of the suite is run, and what is told of it while it runs.

With MILLRACE_EVERY=3 a test that is given many values gets every third of them. Builds with sanitizers take it: most values of
such a test lead through the same code, and each costs several times what it costs elsewhere."""

import collections
import os

MANY = 6


def pytest_collection_modifyitems(config, items):
    every = int(os.environ.get("MILLRACE_EVERY", 1))
    tests = [item.nodeid.split("[")[0] for item in items]
    values, counted = collections.Counter(tests), collections.Counter()
    kept, left_out = [], []
    for item, test in zip(items, tests):
        (left_out if values[test] > MANY and counted[test] % every else kept).append(item)
        counted[test] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_runtest_logreport(report):
    """A failure is told at once: a suite that is ended from outside comes to no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\n{report.nodeid}\n{report.longreprtext}", flush=True)
