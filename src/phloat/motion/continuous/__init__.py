"""The continuous equations of motion on the buffers of the kernel: for schemes that take their steps elsewhere."""
