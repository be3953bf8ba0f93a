"""Where restore points are kept: a bucket whose writer can add and can neither change nor delete."""
