CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    username text NOT NULL UNIQUE,
    name text NOT NULL,
    password_hash text NOT NULL,
    root boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    name text NOT NULL,
    key_hash text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE licence (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    plan text NOT NULL CHECK (plan IN ('free', 'commercial')),
    seats integer NOT NULL CHECK (seats > 0),
    expires_at timestamptz NOT NULL,
    activated_at timestamptz NOT NULL DEFAULT now()
);
