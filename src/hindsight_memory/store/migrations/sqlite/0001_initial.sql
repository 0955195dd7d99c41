-- Banks, memories with their words and vectors, relations, events. All times are microseconds since 1970, UTC.
-- Every key starts with the bank. A row number is counted within its bank: small, and it tells nothing of others.

CREATE TABLE banks (
  bank INTEGER PRIMARY KEY,
  bank_id TEXT NOT NULL UNIQUE,
  namespace TEXT NOT NULL,
  user_id TEXT,
  created_at INTEGER NOT NULL,
  next_row INTEGER NOT NULL DEFAULT 1,
  next_event INTEGER NOT NULL DEFAULT 1,
  changes INTEGER NOT NULL DEFAULT 0,    -- counts vector writes: what a cached index has to catch up with
  erasures INTEGER NOT NULL DEFAULT 0,   -- counts removals: a cached index starts again
  documents INTEGER NOT NULL DEFAULT 0,  -- memories that can be found by words
  length INTEGER NOT NULL DEFAULT 0,     -- their words together, for the average length
  near_length INTEGER NOT NULL DEFAULT 0, -- and those of the turns beside them
  ranking TEXT NOT NULL DEFAULT '{}',    -- what feedback made of the weights of the ranking
  scrubbed INTEGER NOT NULL DEFAULT 0,   -- removals that the files keep no trace of
  log_first INTEGER NOT NULL DEFAULT 1,  -- the first line that the log still has, and the seal that it follows
  log_base BLOB NOT NULL DEFAULT x'',
  log_seal BLOB NOT NULL DEFAULT x''     -- of its last line
);
CREATE INDEX banks_unscrubbed ON banks (bank) WHERE erasures <> scrubbed;

CREATE TABLE spaces (
  space INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  spec TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  template TEXT NOT NULL,
  calibration TEXT NOT NULL,
  wanted INTEGER NOT NULL                -- 1 while every memory is to have a vector in it
);

CREATE TABLE sessions (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  next_turn INTEGER NOT NULL DEFAULT 0,
  title TEXT,
  state TEXT NOT NULL DEFAULT '{}',
  version INTEGER NOT NULL DEFAULT 0,    -- changes of the state
  told INTEGER NOT NULL DEFAULT 0,       -- turns up to which episodes were made; below 0 when they are to be made anew
  settled INTEGER NOT NULL DEFAULT 0,    -- the turn from which they may still change
  expires_at INTEGER,                    -- while its desk is open
  PRIMARY KEY (bank, session_id)
) WITHOUT ROWID;
CREATE INDEX sessions_expires ON sessions (bank, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX sessions_untold ON sessions (bank, session_id) WHERE told < next_turn;

CREATE TABLE memories (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  row INTEGER NOT NULL,
  id TEXT NOT NULL,
  agent_id TEXT,
  session_id TEXT,
  turn INTEGER,
  speaker TEXT,
  context_only INTEGER NOT NULL,
  visibility TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT,
  content TEXT NOT NULL,
  summary TEXT,
  metadata TEXT NOT NULL,
  tags TEXT NOT NULL,
  source TEXT NOT NULL,
  source_ref TEXT,
  trust REAL NOT NULL,
  importance REAL NOT NULL,
  pinned INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  expires_at INTEGER,
  outcome TEXT,
  task TEXT,
  tools TEXT NOT NULL,
  last_accessed_at INTEGER,
  access_count INTEGER NOT NULL,
  helpful INTEGER NOT NULL,              -- verdicts of feedback that moved it, and when the last of them came
  doubted INTEGER NOT NULL,
  judged_at INTEGER,
  tier TEXT NOT NULL,
  status TEXT NOT NULL,
  deleted_at INTEGER,
  version INTEGER NOT NULL,
  superseded_by TEXT,
  content_hash TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  unindexed INTEGER NOT NULL,            -- 1 while a vector is wanted and not there
  reading INTEGER NOT NULL,              -- 1 while a language model is to read it, 2 once one has, 0 where none need
  PRIMARY KEY (bank, row)
);
CREATE UNIQUE INDEX memories_id ON memories (bank, id);
CREATE UNIQUE INDEX memories_active ON memories (bank, content_hash) WHERE status = 'active';
CREATE INDEX memories_hash ON memories (bank, content_hash);
CREATE INDEX memories_session ON memories (bank, session_id, turn) WHERE session_id IS NOT NULL;
CREATE INDEX memories_working ON memories (bank, session_id, turn, expires_at) WHERE kind = 'working';
CREATE INDEX memories_key ON memories (bank, key) WHERE key IS NOT NULL;
-- By the beginning: an index of the other engine takes no text of any length.
CREATE INDEX memories_task ON memories (bank, substr(task, 1, 200)) WHERE task IS NOT NULL;
CREATE INDEX memories_occurred ON memories (bank, occurred_at);
CREATE INDEX memories_agent ON memories (bank, source, agent_id, row) WHERE source <> 'user';
CREATE INDEX memories_ref ON memories (bank, source, substr(source_ref, 1, 200), row) WHERE source <> 'user';
CREATE INDEX memories_lessons ON memories (bank, judged_at) WHERE status = 'quarantined' AND doubted > 0;
CREATE INDEX memories_unindexed ON memories (bank, row) WHERE unindexed = 1;
CREATE INDEX memories_unread ON memories (bank, created_at) WHERE reading = 1;
-- What maintenance asks for: whose time has come, oldest first, whatever else the bank holds.
CREATE INDEX memories_expires ON memories (bank, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_deleted ON memories (bank, deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX memories_used ON memories (bank, tier, coalesce(last_accessed_at, created_at), id)
  WHERE status = 'active';

CREATE TABLE tags (
  bank INTEGER NOT NULL,
  tag TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (bank, tag, row),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX tags_row ON tags (bank, row);

-- What a memory is found by: its words as they were counted, kept so that they can be taken back exactly.
CREATE TABLE texts (
  bank INTEGER NOT NULL,
  row INTEGER NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (bank, row),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
);

-- Apart from the words, so that a search reads a few bytes a memory.
CREATE TABLE lengths (
  bank INTEGER NOT NULL,
  row INTEGER NOT NULL,
  own INTEGER NOT NULL,
  near INTEGER NOT NULL,
  PRIMARY KEY (bank, row),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE postings (
  bank INTEGER NOT NULL,
  word TEXT NOT NULL,
  row INTEGER NOT NULL,
  own INTEGER NOT NULL,                  -- times the memory says the word
  near INTEGER NOT NULL,                 -- times the turns beside it say it
  PRIMARY KEY (bank, word, row)
) WITHOUT ROWID;

-- What a memory mentions: names, folded, and spans of time.
CREATE TABLE names (
  bank INTEGER NOT NULL,
  name TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (bank, name, row),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX names_row ON names (bank, row);

CREATE TABLE times (
  bank INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,                -- excluded; at most 366 days after since
  row INTEGER NOT NULL,
  PRIMARY KEY (bank, since, until, row),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX times_row ON times (bank, row);

CREATE TABLE vectors (
  bank INTEGER NOT NULL,
  space INTEGER NOT NULL REFERENCES spaces,
  row INTEGER NOT NULL,
  part INTEGER NOT NULL,                 -- the window of a long text
  change INTEGER NOT NULL,
  vector BLOB,                           -- little-endian float32 of length 1; none once the text has changed
  PRIMARY KEY (bank, space, row, part),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
);
CREATE INDEX vectors_change ON vectors (bank, space, change);
CREATE INDEX vectors_row ON vectors (bank, row);

CREATE TABLE relations (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  from_id TEXT NOT NULL,
  type TEXT NOT NULL,
  to_id TEXT NOT NULL,
  weight REAL NOT NULL,
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (bank, from_id, type, to_id)
) WITHOUT ROWID;
-- With the weight it answers by itself; without, a planner that knows no statistics reads all relations of the bank.
CREATE INDEX relations_to ON relations (bank, to_id, weight);

CREATE TABLE events (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  verb TEXT NOT NULL,
  memory_id TEXT,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  salt BLOB NOT NULL,                    -- empty once reason and detail were purged
  digest BLOB NOT NULL,                  -- over salt, reason and detail
  seal BLOB NOT NULL,                    -- over the seal of the line before, the digest and the rest
  PRIMARY KEY (bank, number)
);
CREATE INDEX events_memory ON events (bank, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX events_at ON events (bank, at, number);
CREATE INDEX events_feedback ON events (bank, at, number) WHERE verb = 'feedback';
-- A second wall, against faults of programs: a line is never changed but emptied, and goes only with the whole log.
CREATE TRIGGER events_changed BEFORE UPDATE ON events
WHEN NEW.salt <> x'' OR NEW.reason <> '' OR NEW.detail <> '{}' OR NEW.bank <> OLD.bank OR NEW.number <> OLD.number
  OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor OR NEW.verb <> OLD.verb
  OR NEW.memory_id IS NOT OLD.memory_id OR NEW.digest <> OLD.digest OR NEW.seal <> OLD.seal
BEGIN
  SELECT RAISE(ABORT, 'the log is not changed');
END;
CREATE TRIGGER events_removed BEFORE DELETE ON events
WHEN OLD.number >= (SELECT log_first FROM banks WHERE bank = OLD.bank)
BEGIN
  SELECT RAISE(ABORT, 'the log is not shortened');
END;

-- What a bank does with personal data and secrets, where that differs from the settings.
CREATE TABLE policies (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  type TEXT NOT NULL,
  handling TEXT NOT NULL,
  PRIMARY KEY (bank, type)
) WITHOUT ROWID;

-- What a policy keeps apart, encrypted. Nothing points at it but the text that names its id.
CREATE TABLE vault (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

-- Who works on what, and how often it failed. The work itself is what a memory lacks, not a line here.
CREATE TABLE leases (
  bank INTEGER NOT NULL,
  stage TEXT NOT NULL,
  row INTEGER NOT NULL,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (bank, stage, row),
  FOREIGN KEY (bank, row) REFERENCES memories ON DELETE CASCADE
) WITHOUT ROWID;

-- When each routine of maintenance was last done in a bank, and the last row it has looked at.
CREATE TABLE upkeep (
  bank INTEGER NOT NULL REFERENCES banks ON DELETE CASCADE,
  routine TEXT NOT NULL,
  done_at INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (bank, routine)
) WITHOUT ROWID;

-- Work that one process at a time does for all banks: who has it, until when.
CREATE TABLE leads (
  role TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;

-- API keys, by the digest of their secrets: the secrets are kept nowhere. A key is never deleted, it ends.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  namespace TEXT NOT NULL,
  prefix TEXT NOT NULL,                  -- how the secret begins, to be shown
  grants TEXT NOT NULL,
  users TEXT,                            -- whom it may act for; all where there is no list
  agents TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  replaced_by TEXT,
  last_used_at INTEGER                   -- to the hour
) WITHOUT ROWID;
CREATE INDEX api_keys_namespace ON api_keys (namespace, id);

-- What language models took in a day of UTC, by all processes together: tokens, and memories that were read.
CREATE TABLE spending (
  day INTEGER PRIMARY KEY,               -- counted from 0001-01-01
  tokens INTEGER NOT NULL,
  memories INTEGER NOT NULL
);
