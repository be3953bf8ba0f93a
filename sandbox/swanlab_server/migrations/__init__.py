"""The schema of the metadata, as steps that only go forward: `<number>_<version>_<what>.sql`."""
