"""Many runs of one system: parameters drawn or listed, all cores or a cluster, results on disk, statistics."""
