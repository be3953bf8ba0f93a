CREATE TABLE series (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES projects ON DELETE CASCADE,
    key text NOT NULL,
    type text NOT NULL,
    layout json NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (project_id, key)
);

CREATE TABLE files (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id bigint NOT NULL REFERENCES experiments ON DELETE CASCADE,
    path text NOT NULL,
    size bigint NOT NULL CHECK (size >= 0),
    md5 text NOT NULL,
    mime_type text NOT NULL,
    state text NOT NULL CHECK (state IN ('PREPARED', 'UPLOADED', 'FAILED')),
    upload_id text,
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (experiment_id, path)
);
