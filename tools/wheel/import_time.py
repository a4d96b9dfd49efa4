"""How long `import millrace` takes in a fresh process; fails above what was promised. NumPy is not part of it."""

import statistics
import subprocess
import sys

MOST_MS = 50
TIMED = "import time; t = time.perf_counter(); import millrace; print((time.perf_counter() - t) * 1e3)"

times = [float(subprocess.run([sys.executable, "-c", TIMED], capture_output=True, check=True).stdout) for _ in range(24)][3:]
median = statistics.median(times)
print(f"wheel: import millrace takes {median:.0f} ms (median of {len(times)} processes; the quickest {min(times):.0f})")
sys.exit(median > MOST_MS)
