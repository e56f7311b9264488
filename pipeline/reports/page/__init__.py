"""A folder of HTML in which a spec set can be browsed: what there is to say as data, then as pages."""
