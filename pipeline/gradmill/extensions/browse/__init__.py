"""The page and the language server: what people browse."""
