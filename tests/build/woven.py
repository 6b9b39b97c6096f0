"""What README and docs quote from sources and result files is what stands there now."""
import subprocess
import sys

sys.exit(subprocess.run([sys.executable, "tools/weave.py", "--check"]).returncode)
