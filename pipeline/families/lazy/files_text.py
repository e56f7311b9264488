"""The C++ text of files that is no function's: their `#include`s, their helpers."""

from pipeline.families.sections import Text

TEXT = Text("lazy/files.cpp", phrases=True)
