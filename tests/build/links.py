"""Every link in the Markdown files leads somewhere: to a file or folder of this repository, and to a
heading of it where it names one. (Addresses elsewhere are not asked for: that needs a network.)"""
import pathlib
import re
import sys
from urllib.parse import unquote

SKIPPED = {"build", ".git", "node_modules"}
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()\s]*\))?)\)")


def without_code(text):
    """The text with fenced blocks and code spans blanked, so that no link is looked for there."""
    text = re.sub(r"^(```+).*?^\1[ \t]*$", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    return re.sub(r"(`+)[^`\n].*?\1(?!`)", lambda m: " " * len(m[0]), text)


def slug(heading):
    """The name that GitHub gives to a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(path, known={}):
    if path not in known:
        seen = {}
        names = set()
        text = re.sub(r"^(```+).*?^\1[ \t]*$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
        for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.M):
            name = slug(heading)
            names.add(f"{name}-{seen[name]}" if name in seen else name)
            seen[name] = seen.get(name, 0) + 1
        known[path] = names
    return known[path]


def dead_links(root):
    for page in sorted(root.rglob("*.md")):
        if SKIPPED & set(page.relative_to(root).parts):
            continue
        for number, line in enumerate(without_code(page.read_text(encoding="utf-8")).splitlines(), 1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                place, _, anchor = target.partition("#")
                path = (page.parent / unquote(place)).resolve() if place else page
                where = f"{page.relative_to(root)}:{number}: {target}"
                if not path.exists() or root not in [path, *path.parents]:
                    yield f"{where}: there is no such file"
                elif anchor and (path.suffix != ".md" or anchor not in anchors(path)):
                    yield f"{where}: there is no such heading"


def main(root):
    found = list(dead_links(root.resolve()))
    print("\n".join(found) if found else "Every link leads somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
