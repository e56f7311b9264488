"""The C++ text of a backend's files that does not belong to a function."""

from pipeline.families.sections import Text

TEXT = Text("backends/files.cpp", phrases=True)
