"""The cases, by subject: paper, rigid bodies, linkages, beams, spin, large rotation, plates, solids, NAFEMS."""
