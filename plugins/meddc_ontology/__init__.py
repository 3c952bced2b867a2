"""Disease ontologies from local files: names, hierarchy, cross-references, and the floor they put under a judge's levels."""
