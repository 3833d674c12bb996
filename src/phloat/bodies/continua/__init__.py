"""Common parts of all bodies on meshes: ports, frames, reduction."""
