"""What all bodies on meshes have in common: ports, frames, reduction."""
