"""Output families: how one Node is rendered, and how files are assembled from Nodes.

A family is one module with a `FAMILY`; `pipeline.outputs.families` lists them. The stages know no family.
"""
