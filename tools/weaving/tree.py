"""The repository as the weavers see it, and the Markdown that they write."""
import os
import pathlib
import re

from weaving import results
from weaving.results import Fault

NOT_YET = "(not measured yet)"
NOT_MEASURED = NOT_YET + "\n"


class Tree:
    """The files of one checkout."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.docs = self.root / "docs"
        self.results = self.docs / "results"

    def read(self, path):
        """The text of a file that must be there; `path` counts from the root."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Fault(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from None

    def pages(self):
        """The pages that are woven."""
        return [self.root / "README.md", *sorted(self.docs.rglob("*.md"))]

    def ladder(self, pattern="v*"):
        """The versions, in order."""
        return sorted((path.parent.name for path in self.root.glob(f"{pattern}/kernel.cu")
                       if re.match(r"v\d+_", path.parent.name)), key=results.version_number)

    def kernel(self, version):
        """The lines of a version's kernel.cu, or of a .cu file given by its path."""
        if version.endswith(".cu"):
            return self.read(version).splitlines()
        if version not in self.ladder():
            raise Fault(f"there is no version '{version}'; there are: {', '.join(self.ladder())}")
        return self.read(f"{version}/kernel.cu").splitlines()

    def _result(self, name):
        """The path of a result file; None if it is still to be made, as its README announces."""
        path = self.results / name
        if path.exists():
            return path
        if name not in self.read("docs/results/README.md"):
            raise Fault(f"there is no docs/results/{name}, and docs/results/README.md announces none")
        return None

    def measured(self, name):
        """A file of times; None if it is still to be made."""
        path = self._result(name)
        return results.read_results(path) if path else None

    def counted(self, name):
        """A file of counters; None if it is still to be made."""
        path = self._result(name)
        return results.read_counters(path) if path else None

    def printed(self, name):
        """The lines of what a program printed; None if it is still to be made."""
        path = self._result(name)
        if path is None:
            return None
        lines = self.read(path.relative_to(self.root)).splitlines()
        if not lines:
            raise Fault(f"docs/results/{name} is empty; renew it as docs/results/README.md says")
        return lines

    def require_known(self, names, measured, where):
        """A name that is neither in a result file nor a version yet to be measured is a mistake."""
        for name in names:
            if name not in measured and name not in self.ladder():
                raise Fault(f"{where} holds no '{name}', and there is no such version; it holds: "
                            f"{', '.join(measured)}")


def link(target, folder, text=None):
    """A link to a file of this repository from a page in `folder`."""
    relative = pathlib.PurePath(os.path.relpath(target, folder)).as_posix()
    return f"[{text or relative}]({relative})"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head),
            *("| " + " | ".join(row) + " |" for row in rows)]


def table_and_text(head, rows, text):
    return "\n".join([*table(head, rows), *(["", text] if text else [])]) + "\n"


def fence(language, lines):
    return "\n".join([f"```{language}", *lines, "```"]) + "\n"
