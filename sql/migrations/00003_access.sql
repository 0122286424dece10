-- Who may ask: tokens, and the page's sessions. Secrets are random and are kept as SHA-256 only; looking one up is one read
-- of a unique index.

-- +goose Up

CREATE TABLE ax.token (
    id           uuid        PRIMARY KEY, -- v7: pages go by it
    namespace    text        NOT NULL,
    name         text        NOT NULL,
    prefix       text        NOT NULL, -- the secret's first characters, to tell tokens apart
    hash         bytea       NOT NULL UNIQUE, -- SHA-256 of the secret
    role         text        NOT NULL CHECK (role IN ('viewer', 'worker', 'operator', 'admin')),
    scopes       text[], -- permissions that the token keeps; null: all that its role has
    cluster      boolean     NOT NULL DEFAULT false, -- may change what concerns the whole database
    named        boolean     NOT NULL DEFAULT true, -- its name is taken: until it is revoked, or has expired and another takes the name
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by   text        NOT NULL,
    expires_at   timestamptz NOT NULL,
    last_used_at timestamptz, -- to the minute
    revoked_at   timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX token_name ON ax.token (namespace, name) WHERE named;
CREATE INDEX token_page ON ax.token (namespace, id);

-- Who has logged in at the identity provider. The row goes when they log out, and after its end.
CREATE TABLE ax.session (
    id         uuid        PRIMARY KEY,
    hash       bytea       NOT NULL UNIQUE, -- SHA-256 of the cookie
    login      bytea       NOT NULL UNIQUE, -- SHA-256 of the login's nonce: a login makes one session
    namespace  text        NOT NULL,
    issuer     text        NOT NULL,
    subject    text        NOT NULL, -- who it is at the issuer
    email      text        NOT NULL DEFAULT '', -- '': the issuer does not vouch for one
    actor      text        NOT NULL,
    role       text        NOT NULL CHECK (role IN ('viewer', 'worker', 'operator', 'admin')),
    cluster    boolean     NOT NULL DEFAULT false,
    id_token   text        NOT NULL, -- names the session to the issuer when it is ended
    idle_s     int         NOT NULL CHECK (idle_s > 0), -- it ends when unused for so long
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(), -- to the minute
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX session_expires ON ax.session (expires_at);
