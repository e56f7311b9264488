"""What pyproject.toml cannot say: the embedded spec set becomes a part of the package, from a folder beside it.

A `package-dir` that says so would make every start of an editable install slower.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CORE = Path("specs", "core")


class BuildWithCore(build_py):
    """Copies the set when files are copied at all."""

    def run(self):
        super().run()
        if not self.editable_mode:
            shutil.copytree(CORE, Path(self.build_lib, "gradmill", CORE), dirs_exist_ok=True)

    def get_source_files(self):
        return [*super().get_source_files(), *(str(path) for path in CORE.rglob("*") if path.is_file())]


setup(cmdclass={"build_py": BuildWithCore})
