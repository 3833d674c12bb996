"""What the compiled step runs on: workspaces, pointers, vectors of four numbers, threads, small dense algebra, factorisation."""
