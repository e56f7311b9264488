"""The C++ text of files that does not belong to a function: their `#include`s, their helpers."""

from pipeline.families.sections import Text

TEXT = Text("lazy/files.cpp", phrases=True)
