"""A folder of HTML pages to browse a spec set: first the contents as data, then the pages."""
