"""From a document to chunks: sections of regulations, prose, tables, definitions of code."""
