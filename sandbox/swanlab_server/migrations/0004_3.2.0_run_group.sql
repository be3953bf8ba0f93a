ALTER TABLE experiments RENAME COLUMN cluster TO run_group;
ALTER TABLE experiments ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
