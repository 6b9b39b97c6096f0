"""The texts of explain are what docs/results/explain-TOPIC.txt holds, short and narrow, and what it
is asked wrongly ends in one sentence.

usage: text_test.py EXPLAIN (in the source tree; with --renew writes the files instead)
"""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect, run  # noqa: E402

MOST_LINES, MOST_COLUMNS = 40, 100


def main(explain, renew):
    listed = run(explain)
    topics = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
    expect("without a topic they are listed", listed.returncode == 0 and topics == [
        "phases", "swizzle", "descriptor", "fragment", "raster", "budget"], listed)
    for topic in topics:
        result = run(explain, topic)
        lines = result.stdout.splitlines()
        path = pathlib.Path(f"docs/results/explain-{topic}.txt")
        if renew:
            path.write_text(result.stdout, encoding="utf-8")
        expect(f"{topic}: as in {path}", result.returncode == 0 and path.exists()
               and result.stdout == path.read_text(encoding="utf-8"), result)
        expect(f"{topic}: {len(lines)} lines, {max(map(len, lines))} columns",
               len(lines) <= MOST_LINES and max(map(len, lines)) <= MOST_COLUMNS
               and all(line == line.rstrip() for line in lines), result)
        data = run(explain, topic, "--json")
        expect(f"{topic} --json", data.returncode == 0 and isinstance(json.loads(data.stdout), dict),
               data)

    result = run(explain, "swizzle", "--row", "12", "--k", "63")
    expect("an element of one's own", "(row 12, k 63): chunk 7 of its row, which lies in place 3"
           in result.stdout and "= 1598, bank 15" in result.stdout, result)
    result = run(explain, "fragment", "--row", "63", "--column", "255")
    expect("a result of one's own", "warp 3 of the group, lane 31 (thread 127), register 127"
           in result.stdout, result)
    result = run(explain, "raster", "--m", "256", "--n", "512", "--sms", "2")
    expect("a problem of one's own", "C = 256 x 512 on 2 SMs" in result.stdout, result)
    result = run(explain, "--help")
    expect("--help", result.returncode == 0 and all(topic in result.stdout for topic in topics),
           result)
    for words, part in ((["swizle"], "no topic 'swizle'"), (["swizzle", "--row", "64"], "64"),
                        (["swizzle", "--k", "64"], "64 columns"), (["raster", "--sms", "133"], "133"),
                        (["raster", "--m", "0"], "0"), (["swizzle", "fragment"], "fragment"),
                        (["swizzle", "--page", "/dev/null/x"], "cannot be written")):
        result = run(explain, *words)
        expect(f"usage: {words}", result.returncode == 2 and part in result.stderr
               and result.stderr.count("\n") == 1 and result.stdout == "", result)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--renew" in sys.argv[2:]))
