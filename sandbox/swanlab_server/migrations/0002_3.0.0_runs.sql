CREATE TABLE projects (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cuid text NOT NULL UNIQUE,
    owner_id bigint NOT NULL REFERENCES users,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    visibility text NOT NULL CHECK (visibility IN ('PUBLIC', 'PRIVATE')),
    version integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (owner_id, name)
);

CREATE TABLE experiments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cuid text NOT NULL UNIQUE,
    project_id bigint NOT NULL REFERENCES projects ON DELETE CASCADE,
    user_id bigint NOT NULL REFERENCES users,
    name text NOT NULL,
    slug text NOT NULL,
    description text NOT NULL DEFAULT '',
    colors json NOT NULL DEFAULT '[]',
    labels json NOT NULL DEFAULT '[]',
    job text NOT NULL DEFAULT '',
    cluster text NOT NULL DEFAULT '',
    state text NOT NULL DEFAULT 'RUNNING'
        CHECK (state IN ('RUNNING', 'FINISHED', 'CRASHED', 'ABORTED', 'OFFLINE')),
    flag_id text NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    heartbeat_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX experiments_of_project ON experiments (project_id, created_at DESC);
CREATE INDEX experiments_running ON experiments (heartbeat_at) WHERE state = 'RUNNING';

CREATE TABLE profiles (
    experiment_id bigint PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
    config json,
    metadata json,
    requirements text,
    conda text,
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE columns (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id bigint NOT NULL REFERENCES experiments ON DELETE CASCADE,
    key text NOT NULL,
    type text NOT NULL,
    class text NOT NULL CHECK (class IN ('CUSTOM', 'SYSTEM')),
    name text NOT NULL,
    error json,
    layout json NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (experiment_id, key)
);
