"""Where it is kept: the contract and its engines; SQL stands here and nowhere else."""
