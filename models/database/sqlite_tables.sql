CREATE TABLE account (
    id INTEGER NOT NULL,
    email VARCHAR(254) NOT NULL,
    name VARCHAR(100) NOT NULL,
    password_hash VARCHAR(200),
    role VARCHAR(16) NOT NULL,
    verified_at DOUBLE,
    claimed BOOLEAN DEFAULT 0 NOT NULL,
    disabled_at DOUBLE,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_account PRIMARY KEY (id),
    CONSTRAINT ck_account_role CHECK (role IN ('administrator', 'organiser', 'participant', 'viewer')),
    CONSTRAINT uq_account_email UNIQUE (email)
)

CREATE TABLE campaign (
    id INTEGER NOT NULL,
    name VARCHAR(200) NOT NULL,
    folded_name VARCHAR(800),
    phase VARCHAR(100) DEFAULT '' NOT NULL,
    title VARCHAR(200) DEFAULT '' NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    time_zone VARCHAR(100) DEFAULT 'UTC' NOT NULL,
    visibility VARCHAR(16) DEFAULT 'private' NOT NULL,
    joining VARCHAR(16) DEFAULT 'invited' NOT NULL,
    anonymous BOOLEAN DEFAULT 0 NOT NULL,
    verified_only BOOLEAN DEFAULT 0 NOT NULL,
    ranked_by VARCHAR(500) DEFAULT '' NOT NULL,
    human_rule VARCHAR(100) DEFAULT '' NOT NULL,
    human_judgments VARCHAR(120) DEFAULT '' NOT NULL,
    embeddable BOOLEAN DEFAULT 0 NOT NULL,
    frozen_at DOUBLE,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_campaign PRIMARY KEY (id),
    CONSTRAINT ck_campaign_visibility CHECK (visibility IN ('public', 'private')),
    CONSTRAINT ck_campaign_joining CHECK (joining IN ('open', 'invited')),
    CONSTRAINT uq_campaign_name UNIQUE (name)
)

CREATE UNIQUE INDEX ix_campaign_folded_name ON campaign (folded_name)

CREATE TABLE compatibility (
    id SMALLINT NOT NULL,
    oldest VARCHAR(32) NOT NULL,
    CONSTRAINT pk_compatibility PRIMARY KEY (id)
)

CREATE TABLE corpus_statistics (
    id INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    "key" VARCHAR(200) NOT NULL,
    metric VARCHAR(500) NOT NULL,
    reference_texts JSON NOT NULL,
    variable_references BOOLEAN NOT NULL,
    segments INTEGER NOT NULL,
    edition INTEGER DEFAULT '1' NOT NULL,
    blob BLOB,
    CONSTRAINT pk_corpus_statistics PRIMARY KEY (id),
    CONSTRAINT uq_corpus_statistics_content_hash UNIQUE (content_hash)
)

CREATE INDEX ix_corpus_statistics_open ON corpus_statistics (edition) WHERE blob IS NULL

CREATE TABLE leader (
    id SMALLINT NOT NULL,
    holder VARCHAR(200) NOT NULL,
    expires_at DOUBLE NOT NULL,
    CONSTRAINT pk_leader PRIMARY KEY (id)
)

CREATE TABLE measured_cost (
    specification VARCHAR(500) NOT NULL,
    microseconds DOUBLE NOT NULL,
    weight DOUBLE NOT NULL,
    updated_at DOUBLE NOT NULL,
    CONSTRAINT pk_measured_cost PRIMARY KEY (specification)
)

CREATE TABLE scorer (
    id INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    description TEXT NOT NULL,
    CONSTRAINT pk_scorer PRIMARY KEY (id),
    CONSTRAINT uq_scorer_content_hash UNIQUE (content_hash)
)

CREATE TABLE system (
    id INTEGER NOT NULL,
    name VARCHAR(200) NOT NULL,
    team VARCHAR(100) NOT NULL,
    CONSTRAINT pk_system PRIMARY KEY (id),
    CONSTRAINT uq_system_team_name UNIQUE (team, name)
)

CREATE TABLE team (
    id INTEGER NOT NULL,
    name VARCHAR(100) NOT NULL,
    folded_name VARCHAR(400) NOT NULL,
    publication_name VARCHAR(100) DEFAULT '' NOT NULL,
    affiliation VARCHAR(200) DEFAULT '' NOT NULL,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_team PRIMARY KEY (id),
    CONSTRAINT uq_team_name UNIQUE (name),
    CONSTRAINT uq_team_folded_name UNIQUE (folded_name)
)

CREATE TABLE text (
    id INTEGER NOT NULL,
    sha256 VARCHAR(64) NOT NULL,
    segments INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    CONSTRAINT pk_text PRIMARY KEY (id),
    CONSTRAINT uq_text_sha256 UNIQUE (sha256)
)

CREATE TABLE worker (
    id VARCHAR(200) NOT NULL,
    host VARCHAR(255) NOT NULL,
    pid INTEGER NOT NULL,
    beat_at DOUBLE NOT NULL,
    version VARCHAR(50) NOT NULL,
    concurrency INTEGER NOT NULL,
    edition INTEGER DEFAULT '1' NOT NULL,
    started_at DOUBLE,
    revision VARCHAR(32),
    queue VARCHAR(50) DEFAULT '' NOT NULL,
    device VARCHAR(50),
    lacks JSON,
    message_version INTEGER DEFAULT '1' NOT NULL,
    CONSTRAINT pk_worker PRIMARY KEY (id)
)

CREATE TABLE api_token (
    id INTEGER NOT NULL,
    secret_hash VARCHAR(64) NOT NULL,
    account_id INTEGER NOT NULL,
    name VARCHAR(100) NOT NULL,
    scopes JSON NOT NULL,
    created_at DOUBLE NOT NULL,
    used_at DOUBLE,
    expires_at DOUBLE,
    revoked_at DOUBLE,
    CONSTRAINT pk_api_token PRIMARY KEY (id),
    CONSTRAINT uq_api_token_secret_hash UNIQUE (secret_hash),
    CONSTRAINT fk_api_token_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_api_token_account_id ON api_token (account_id)

CREATE TABLE audit_entry (
    id INTEGER NOT NULL,
    at DOUBLE NOT NULL,
    account_id INTEGER,
    actor VARCHAR(300) NOT NULL,
    address VARCHAR(100) DEFAULT '' NOT NULL,
    action VARCHAR(100) NOT NULL,
    subject VARCHAR(400) NOT NULL,
    campaign_id INTEGER,
    details JSON NOT NULL,
    CONSTRAINT pk_audit_entry PRIMARY KEY (id),
    CONSTRAINT fk_audit_entry_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE SET NULL,
    CONSTRAINT fk_audit_entry_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE SET NULL
)

CREATE INDEX ix_audit_entry_account_id ON audit_entry (account_id)

CREATE INDEX ix_audit_entry_campaign_id_id ON audit_entry (campaign_id, id)

CREATE TABLE campaign_member (
    campaign_id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    role VARCHAR(16) NOT NULL,
    CONSTRAINT pk_campaign_member PRIMARY KEY (campaign_id, account_id),
    CONSTRAINT ck_campaign_member_role CHECK (role IN ('organiser', 'viewer')),
    CONSTRAINT fk_campaign_member_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaign_member_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_campaign_member_account_id ON campaign_member (account_id)

CREATE TABLE campaign_terms (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_campaign_terms PRIMARY KEY (id),
    CONSTRAINT uq_campaign_terms_campaign_id_version UNIQUE (campaign_id, version),
    CONSTRAINT fk_campaign_terms_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
)

CREATE TABLE confirmation (
    id INTEGER NOT NULL,
    secret_hash VARCHAR(64) NOT NULL,
    account_id INTEGER NOT NULL,
    purpose VARCHAR(16) NOT NULL,
    email VARCHAR(254) NOT NULL,
    created_at DOUBLE NOT NULL,
    expires_at DOUBLE NOT NULL,
    used_at DOUBLE,
    CONSTRAINT pk_confirmation PRIMARY KEY (id),
    CONSTRAINT ck_confirmation_purpose CHECK (purpose IN ('address', 'password')),
    CONSTRAINT uq_confirmation_secret_hash UNIQUE (secret_hash),
    CONSTRAINT fk_confirmation_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_confirmation_account_id ON confirmation (account_id)

CREATE TABLE corpus_count (
    corpus_statistics_id INTEGER NOT NULL,
    first_block INTEGER NOT NULL,
    last_block INTEGER NOT NULL,
    merges BOOLEAN NOT NULL,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    part BLOB,
    CONSTRAINT pk_corpus_count PRIMARY KEY (id),
    CONSTRAINT ck_corpus_count_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_corpus_count_corpus_statistics_id_corpus_statistics FOREIGN KEY(corpus_statistics_id) REFERENCES corpus_statistics (id)
)

CREATE INDEX ix_corpus_count_corpus_statistics_id ON corpus_count (corpus_statistics_id)

CREATE INDEX ix_corpus_count_ended_at ON corpus_count (ended_at)

CREATE INDEX ix_corpus_count_in_flight ON corpus_count (state, queue_class, team)

CREATE INDEX ix_corpus_count_pending ON corpus_count (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_corpus_count_retried ON corpus_count (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE invitation (
    id INTEGER NOT NULL,
    secret_hash VARCHAR(64) NOT NULL,
    email VARCHAR(254) DEFAULT '' NOT NULL,
    mailed_hash VARCHAR(64),
    role VARCHAR(16) NOT NULL,
    team_id INTEGER,
    team_role VARCHAR(16),
    campaign_id INTEGER,
    campaign_role VARCHAR(16),
    made_by INTEGER,
    created_at DOUBLE NOT NULL,
    expires_at DOUBLE NOT NULL,
    used_at DOUBLE,
    used_by INTEGER,
    CONSTRAINT pk_invitation PRIMARY KEY (id),
    CONSTRAINT ck_invitation_role CHECK (role IN ('administrator', 'organiser', 'participant', 'viewer')),
    CONSTRAINT ck_invitation_team_role CHECK (team_role IS NULL OR team_role IN ('lead', 'member')),
    CONSTRAINT ck_invitation_campaign_role CHECK (campaign_role IS NULL OR campaign_role IN ('organiser', 'viewer')),
    CONSTRAINT uq_invitation_secret_hash UNIQUE (secret_hash),
    CONSTRAINT fk_invitation_team_id_team FOREIGN KEY(team_id) REFERENCES team (id) ON DELETE CASCADE,
    CONSTRAINT fk_invitation_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_invitation_made_by_account FOREIGN KEY(made_by) REFERENCES account (id) ON DELETE SET NULL,
    CONSTRAINT fk_invitation_used_by_account FOREIGN KEY(used_by) REFERENCES account (id) ON DELETE SET NULL
)

CREATE INDEX ix_invitation_campaign_id ON invitation (campaign_id)

CREATE UNIQUE INDEX ix_invitation_mailed_hash ON invitation (mailed_hash)

CREATE INDEX ix_invitation_team_id ON invitation (team_id)

CREATE TABLE layer_block (
    text_id INTEGER NOT NULL,
    layer VARCHAR(50) NOT NULL,
    block INTEGER NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT pk_layer_block PRIMARY KEY (text_id, layer, block),
    CONSTRAINT fk_layer_block_text_id_text FOREIGN KEY(text_id) REFERENCES text (id) ON DELETE CASCADE
)

CREATE TABLE linked_identity (
    id INTEGER NOT NULL,
    issuer VARCHAR(200) NOT NULL,
    subject VARCHAR(255) NOT NULL,
    account_id INTEGER NOT NULL,
    name VARCHAR(100) DEFAULT '' NOT NULL,
    created_at DOUBLE NOT NULL,
    used_at DOUBLE,
    CONSTRAINT pk_linked_identity PRIMARY KEY (id),
    CONSTRAINT uq_linked_identity_issuer_subject UNIQUE (issuer, subject),
    CONSTRAINT fk_linked_identity_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_linked_identity_account_id ON linked_identity (account_id)

CREATE TABLE membership (
    team_id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    role VARCHAR(16) NOT NULL,
    joined_at DOUBLE NOT NULL,
    CONSTRAINT pk_membership PRIMARY KEY (team_id, account_id),
    CONSTRAINT ck_membership_role CHECK (role IN ('lead', 'member')),
    CONSTRAINT fk_membership_team_id_team FOREIGN KEY(team_id) REFERENCES team (id) ON DELETE CASCADE,
    CONSTRAINT fk_membership_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_membership_account_id ON membership (account_id)

CREATE TABLE notice (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    "key" VARCHAR(100) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    team_id INTEGER,
    account_id INTEGER,
    title VARCHAR(400) NOT NULL,
    text TEXT NOT NULL,
    path VARCHAR(1000) NOT NULL,
    until DOUBLE,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_notice PRIMARY KEY (id),
    CONSTRAINT uq_notice_campaign_id_key UNIQUE (campaign_id, "key"),
    CONSTRAINT ck_notice_kind CHECK (kind IN ('scored', 'failed', 'deadline', 'phase', 'results', 'correction', 'announcement')),
    CONSTRAINT fk_notice_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_notice_team_id_team FOREIGN KEY(team_id) REFERENCES team (id) ON DELETE CASCADE,
    CONSTRAINT fk_notice_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE SET NULL
)

CREATE INDEX ix_notice_account_id ON notice (account_id)

CREATE INDEX ix_notice_team_id ON notice (team_id)

CREATE TABLE notice_address (
    account_id INTEGER NOT NULL,
    unsubscribe_secret VARCHAR(64) NOT NULL,
    feed_secret VARCHAR(64) NOT NULL,
    webhook VARCHAR(500),
    webhook_secret VARCHAR(64),
    CONSTRAINT pk_notice_address PRIMARY KEY (account_id),
    CONSTRAINT uq_notice_address_unsubscribe_secret UNIQUE (unsubscribe_secret),
    CONSTRAINT uq_notice_address_feed_secret UNIQUE (feed_secret),
    CONSTRAINT fk_notice_address_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE TABLE notice_choice (
    account_id INTEGER NOT NULL,
    kind VARCHAR(16) NOT NULL,
    channel VARCHAR(16) NOT NULL,
    wanted BOOLEAN NOT NULL,
    CONSTRAINT pk_notice_choice PRIMARY KEY (account_id, kind, channel),
    CONSTRAINT ck_notice_choice_kind CHECK (kind IN ('scored', 'failed', 'deadline', 'phase', 'results', 'correction', 'announcement')),
    CONSTRAINT ck_notice_choice_channel CHECK (channel IN ('mail', 'webhook', 'feed')),
    CONSTRAINT fk_notice_choice_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE TABLE participation (
    campaign_id INTEGER NOT NULL,
    team_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    joined_at DOUBLE NOT NULL,
    CONSTRAINT pk_participation PRIMARY KEY (campaign_id, team_id),
    CONSTRAINT uq_participation_campaign_id_number UNIQUE (campaign_id, number),
    CONSTRAINT fk_participation_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_participation_team_id_team FOREIGN KEY(team_id) REFERENCES team (id)
)

CREATE INDEX ix_participation_team_id ON participation (team_id)

CREATE TABLE phase (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    name VARCHAR(100) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    starts_at DOUBLE NOT NULL,
    ends_at DOUBLE,
    late VARCHAR(16) DEFAULT 'refuse' NOT NULL,
    grace_seconds DOUBLE DEFAULT '0' NOT NULL,
    feedback VARCHAR(16) DEFAULT 'full' NOT NULL,
    feedback_step DOUBLE DEFAULT '1' NOT NULL,
    CONSTRAINT pk_phase PRIMARY KEY (id),
    CONSTRAINT uq_phase_campaign_id_name UNIQUE (campaign_id, name),
    CONSTRAINT uq_phase_campaign_id_starts_at UNIQUE (campaign_id, starts_at),
    CONSTRAINT ck_phase_kind CHECK (kind IN ('open', 'blind', 'closed', 'published')),
    CONSTRAINT ck_phase_feedback CHECK (feedback IN ('full', 'rounded', 'interval', 'ladder', 'none')),
    CONSTRAINT ck_phase_late CHECK (late IN ('refuse', 'flag')),
    CONSTRAINT ck_phase_ends_at CHECK (ends_at IS NULL OR ends_at > starts_at),
    CONSTRAINT fk_phase_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
)

CREATE TABLE quota (
    id INTEGER NOT NULL,
    campaign_id INTEGER,
    team VARCHAR(100) DEFAULT '' NOT NULL,
    phase VARCHAR(100) DEFAULT '' NOT NULL,
    kind VARCHAR(16) NOT NULL,
    amount INTEGER,
    time_zone VARCHAR(100) DEFAULT 'UTC' NOT NULL,
    CONSTRAINT pk_quota PRIMARY KEY (id),
    CONSTRAINT ck_quota_kind CHECK (kind IN ('in_flight', 'per_day', 'per_phase')),
    CONSTRAINT ck_quota_amount CHECK (amount >= 0),
    CONSTRAINT fk_quota_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
)

CREATE UNIQUE INDEX uq_quota_of_all ON quota (team, phase, kind) WHERE campaign_id IS NULL

CREATE UNIQUE INDEX uq_quota_of_campaign ON quota (campaign_id, team, phase, kind) WHERE campaign_id IS NOT NULL

CREATE TABLE quota_account (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    team VARCHAR(100) NOT NULL,
    CONSTRAINT pk_quota_account PRIMARY KEY (id),
    CONSTRAINT uq_quota_account_campaign_id_team UNIQUE (campaign_id, team),
    CONSTRAINT fk_quota_account_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
)

CREATE TABLE schedule (
    id INTEGER NOT NULL,
    name VARCHAR(200) NOT NULL,
    cron VARCHAR(200) NOT NULL,
    time_zone VARCHAR(100) NOT NULL,
    source JSON NOT NULL,
    test_sets JSON NOT NULL,
    metrics JSON NOT NULL,
    replicates INTEGER NOT NULL,
    seed BIGINT NOT NULL,
    baseline JSON NOT NULL,
    alpha DOUBLE NOT NULL,
    correction VARCHAR(20) NOT NULL,
    test VARCHAR(20) NOT NULL,
    minimum_difference DOUBLE DEFAULT '0' NOT NULL,
    webhook TEXT,
    webhook_secret TEXT,
    webhook_private BOOLEAN DEFAULT 0 NOT NULL,
    team VARCHAR(100) NOT NULL,
    active BOOLEAN DEFAULT 1 NOT NULL,
    next_at DOUBLE,
    created_at DOUBLE NOT NULL,
    campaign_id INTEGER NOT NULL,
    CONSTRAINT pk_schedule PRIMARY KEY (id),
    CONSTRAINT ck_schedule_test CHECK (test IN ('bootstrap', 'randomization')),
    CONSTRAINT uq_schedule_name UNIQUE (name),
    CONSTRAINT fk_schedule_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id)
)

CREATE INDEX ix_schedule_next_at ON schedule (next_at) WHERE active

CREATE TABLE segment_score (
    scorer_id INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    numbers BLOB NOT NULL,
    beside TEXT,
    used_at DOUBLE NOT NULL,
    CONSTRAINT pk_segment_score PRIMARY KEY (scorer_id, content_hash),
    CONSTRAINT fk_segment_score_scorer_id_scorer FOREIGN KEY(scorer_id) REFERENCES scorer (id) ON DELETE CASCADE
)

CREATE INDEX ix_segment_score_used_at ON segment_score (used_at)

CREATE TABLE system_description (
    campaign_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    origin VARCHAR(16) DEFAULT 'team' NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    affiliation VARCHAR(200) DEFAULT '' NOT NULL,
    paper_url VARCHAR(500) DEFAULT '' NOT NULL,
    url VARCHAR(500) DEFAULT '' NOT NULL,
    parameters BIGINT,
    weights VARCHAR(16) DEFAULT '' NOT NULL,
    constrained BOOLEAN,
    changed_at DOUBLE NOT NULL,
    CONSTRAINT pk_system_description PRIMARY KEY (campaign_id, system_id),
    CONSTRAINT ck_system_description_origin CHECK (origin IN ('team', 'baseline', 'online')),
    CONSTRAINT ck_system_description_weights CHECK (weights IN ('', 'open', 'closed')),
    CONSTRAINT ck_system_description_parameters CHECK (parameters IS NULL OR parameters > 0),
    CONSTRAINT fk_system_description_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_system_description_system_id_system FOREIGN KEY(system_id) REFERENCES system (id) ON DELETE CASCADE
)

CREATE INDEX ix_system_description_system_id ON system_description (system_id)

CREATE TABLE test_set (
    id INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    source_language VARCHAR(35) NOT NULL,
    target_language VARCHAR(35) NOT NULL,
    source_text_id INTEGER,
    segments INTEGER NOT NULL,
    variable_references BOOLEAN NOT NULL,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_test_set PRIMARY KEY (id),
    CONSTRAINT uq_test_set_content_hash UNIQUE (content_hash),
    CONSTRAINT fk_test_set_source_text_id_text FOREIGN KEY(source_text_id) REFERENCES text (id)
)

CREATE TABLE text_block (
    text_id INTEGER NOT NULL,
    block INTEGER NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT pk_text_block PRIMARY KEY (text_id, block),
    CONSTRAINT fk_text_block_text_id_text FOREIGN KEY(text_id) REFERENCES text (id) ON DELETE CASCADE
)

CREATE TABLE web_session (
    id INTEGER NOT NULL,
    secret_hash VARCHAR(64) NOT NULL,
    account_id INTEGER NOT NULL,
    created_at DOUBLE NOT NULL,
    seen_at DOUBLE NOT NULL,
    expires_at DOUBLE NOT NULL,
    CONSTRAINT pk_web_session PRIMARY KEY (id),
    CONSTRAINT uq_web_session_secret_hash UNIQUE (secret_hash),
    CONSTRAINT fk_web_session_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_web_session_account_id ON web_session (account_id)

CREATE INDEX ix_web_session_expires_at ON web_session (expires_at)

CREATE TABLE campaign_test_set (
    campaign_id INTEGER NOT NULL,
    test_set_id INTEGER NOT NULL,
    name VARCHAR(200) NOT NULL,
    version VARCHAR(50) NOT NULL,
    position INTEGER DEFAULT '0' NOT NULL,
    phase_id INTEGER,
    references_released_at DOUBLE,
    replaced_by INTEGER,
    CONSTRAINT pk_campaign_test_set PRIMARY KEY (campaign_id, test_set_id),
    CONSTRAINT uq_campaign_test_set_campaign_id_name_version UNIQUE (campaign_id, name, version),
    CONSTRAINT fk_campaign_test_set_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaign_test_set_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id),
    CONSTRAINT fk_campaign_test_set_phase_id_phase FOREIGN KEY(phase_id) REFERENCES phase (id) ON DELETE SET NULL,
    CONSTRAINT fk_campaign_test_set_replaced_by_test_set FOREIGN KEY(replaced_by) REFERENCES test_set (id)
)

CREATE INDEX ix_campaign_test_set_name ON campaign_test_set (name)

CREATE INDEX ix_campaign_test_set_replaced_by ON campaign_test_set (replaced_by)

CREATE INDEX ix_campaign_test_set_test_set_id ON campaign_test_set (test_set_id)

CREATE TABLE correction (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    old_test_set_id INTEGER NOT NULL,
    new_test_set_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    made_at DOUBLE NOT NULL,
    CONSTRAINT pk_correction PRIMARY KEY (id),
    CONSTRAINT fk_correction_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_correction_old_test_set_id_test_set FOREIGN KEY(old_test_set_id) REFERENCES test_set (id),
    CONSTRAINT fk_correction_new_test_set_id_test_set FOREIGN KEY(new_test_set_id) REFERENCES test_set (id)
)

CREATE INDEX ix_correction_campaign_id ON correction (campaign_id)

CREATE TABLE document (
    test_set_id INTEGER NOT NULL,
    first_segment INTEGER NOT NULL,
    segments INTEGER NOT NULL,
    name VARCHAR(500) NOT NULL,
    domain VARCHAR(100) NOT NULL,
    test_suite VARCHAR(200) DEFAULT '' NOT NULL,
    segment_ids JSON,
    CONSTRAINT pk_document PRIMARY KEY (test_set_id, first_segment),
    CONSTRAINT fk_document_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id) ON DELETE CASCADE
)

CREATE TABLE judgments (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    test_set_id INTEGER NOT NULL,
    name VARCHAR(100) NOT NULL,
    version INTEGER NOT NULL,
    kind VARCHAR(16) NOT NULL,
    method JSON NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_judgments PRIMARY KEY (id),
    CONSTRAINT uq_judgments_campaign_id_test_set_id_name_version UNIQUE (campaign_id, test_set_id, name, version),
    CONSTRAINT uq_judgments_campaign_id_test_set_id_name_content_hash UNIQUE (campaign_id, test_set_id, name, content_hash),
    CONSTRAINT ck_judgments_kind CHECK (kind IN ('scores', 'ratings', 'errors', 'rankings')),
    CONSTRAINT fk_judgments_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_judgments_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id)
)

CREATE INDEX ix_judgments_test_set_id ON judgments (test_set_id)

CREATE TABLE nightly_run (
    id INTEGER NOT NULL,
    schedule_id INTEGER NOT NULL,
    due_at DOUBLE NOT NULL,
    date VARCHAR(10) NOT NULL,
    state VARCHAR(16) NOT NULL,
    reason TEXT,
    caught_up BOOLEAN DEFAULT 0 NOT NULL,
    manual BOOLEAN DEFAULT 0 NOT NULL,
    created_at DOUBLE NOT NULL,
    started_at DOUBLE,
    finished_at DOUBLE,
    comparisons JSON,
    verdict JSON,
    regressed BOOLEAN,
    CONSTRAINT pk_nightly_run PRIMARY KEY (id),
    CONSTRAINT uq_nightly_run_schedule_id_due_at UNIQUE (schedule_id, due_at),
    CONSTRAINT ck_nightly_run_state CHECK (state IN ('due', 'fetching', 'scoring', 'judging', 'done', 'failed', 'missed')),
    CONSTRAINT fk_nightly_run_schedule_id_schedule FOREIGN KEY(schedule_id) REFERENCES schedule (id) ON DELETE CASCADE
)

CREATE INDEX ix_nightly_run_open ON nightly_run (schedule_id) WHERE state IN ('due', 'fetching', 'scoring', 'judging')

CREATE TABLE notice_delivery (
    notice_id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    channel VARCHAR(16) NOT NULL,
    sent_at DOUBLE,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_notice_delivery PRIMARY KEY (id),
    CONSTRAINT uq_notice_delivery_notice_id_account_id_channel UNIQUE (notice_id, account_id, channel),
    CONSTRAINT ck_notice_delivery_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT ck_notice_delivery_channel CHECK (channel IN ('mail', 'webhook', 'feed')),
    CONSTRAINT fk_notice_delivery_notice_id_notice FOREIGN KEY(notice_id) REFERENCES notice (id) ON DELETE CASCADE,
    CONSTRAINT fk_notice_delivery_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
)

CREATE INDEX ix_notice_delivery_account_id_sent_at ON notice_delivery (account_id, sent_at)

CREATE INDEX ix_notice_delivery_ended_at ON notice_delivery (ended_at)

CREATE INDEX ix_notice_delivery_in_flight ON notice_delivery (state, queue_class, team)

CREATE INDEX ix_notice_delivery_pending ON notice_delivery (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_notice_delivery_retried ON notice_delivery (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE protocol (
    id INTEGER NOT NULL,
    test_set_id INTEGER NOT NULL,
    reference_labels JSON NOT NULL,
    metrics JSON NOT NULL,
    replicates INTEGER NOT NULL,
    seed BIGINT NOT NULL,
    resample VARCHAR(16) DEFAULT 'segment' NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    sweep BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT pk_protocol PRIMARY KEY (id),
    CONSTRAINT ck_protocol_resample CHECK (resample IN ('segment', 'document')),
    CONSTRAINT fk_protocol_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id),
    CONSTRAINT uq_protocol_content_hash UNIQUE (content_hash)
)

CREATE INDEX ix_protocol_test_set_id ON protocol (test_set_id)

CREATE TABLE reference (
    test_set_id INTEGER NOT NULL,
    label VARCHAR(100) NOT NULL,
    position INTEGER NOT NULL,
    text_id INTEGER NOT NULL,
    CONSTRAINT pk_reference PRIMARY KEY (test_set_id, label),
    CONSTRAINT uq_reference_test_set_id_position UNIQUE (test_set_id, position),
    CONSTRAINT fk_reference_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id) ON DELETE CASCADE,
    CONSTRAINT fk_reference_text_id_text FOREIGN KEY(text_id) REFERENCES text (id)
)

CREATE INDEX ix_reference_text_id ON reference (text_id)

CREATE TABLE score_import (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    test_set_id INTEGER NOT NULL,
    name VARCHAR(100) NOT NULL,
    version VARCHAR(30) NOT NULL,
    specification VARCHAR(500) NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    level VARCHAR(16) NOT NULL,
    higher_is_better BOOLEAN NOT NULL,
    systems INTEGER NOT NULL,
    files JSON NOT NULL,
    notices JSON NOT NULL,
    account_id INTEGER,
    actor VARCHAR(300) NOT NULL,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_score_import PRIMARY KEY (id),
    CONSTRAINT uq_score_import_campaign_id_test_set_id_name_version UNIQUE (campaign_id, test_set_id, name, version),
    CONSTRAINT fk_score_import_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_score_import_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id),
    CONSTRAINT fk_score_import_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE SET NULL
)

CREATE INDEX ix_score_import_account_id ON score_import (account_id)

CREATE INDEX ix_score_import_test_set_id ON score_import (test_set_id)

CREATE TABLE submission (
    id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    test_set_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    run VARCHAR(100) DEFAULT '' NOT NULL,
    text_id INTEGER NOT NULL,
    created_at DOUBLE NOT NULL,
    CONSTRAINT pk_submission PRIMARY KEY (id),
    CONSTRAINT uq_submission_campaign_id_test_set_id_system_id_run_text_id UNIQUE (campaign_id, test_set_id, system_id, run, text_id),
    CONSTRAINT fk_submission_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id),
    CONSTRAINT fk_submission_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id),
    CONSTRAINT fk_submission_system_id_system FOREIGN KEY(system_id) REFERENCES system (id),
    CONSTRAINT fk_submission_text_id_text FOREIGN KEY(text_id) REFERENCES text (id)
)

CREATE INDEX ix_submission_system_id ON submission (system_id)

CREATE INDEX ix_submission_test_set_id ON submission (test_set_id)

CREATE INDEX ix_submission_text_id_test_set_id_campaign_id ON submission (text_id, test_set_id, campaign_id)

CREATE TABLE terms_acceptance (
    id INTEGER NOT NULL,
    terms_id INTEGER NOT NULL,
    team_id INTEGER NOT NULL,
    account_id INTEGER,
    accepted_at DOUBLE NOT NULL,
    CONSTRAINT pk_terms_acceptance PRIMARY KEY (id),
    CONSTRAINT uq_terms_acceptance_terms_id_team_id UNIQUE (terms_id, team_id),
    CONSTRAINT fk_terms_acceptance_terms_id_campaign_terms FOREIGN KEY(terms_id) REFERENCES campaign_terms (id) ON DELETE CASCADE,
    CONSTRAINT fk_terms_acceptance_team_id_team FOREIGN KEY(team_id) REFERENCES team (id) ON DELETE CASCADE,
    CONSTRAINT fk_terms_acceptance_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE SET NULL
)

CREATE INDEX ix_terms_acceptance_account_id ON terms_acceptance (account_id)

CREATE INDEX ix_terms_acceptance_team_id ON terms_acceptance (team_id)

CREATE TABLE campaign_protocol (
    campaign_id INTEGER NOT NULL,
    protocol_id INTEGER NOT NULL,
    CONSTRAINT pk_campaign_protocol PRIMARY KEY (campaign_id, protocol_id),
    CONSTRAINT fk_campaign_protocol_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_campaign_protocol_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id)
)

CREATE INDEX ix_campaign_protocol_protocol_id ON campaign_protocol (protocol_id)

CREATE TABLE comparison (
    id INTEGER NOT NULL,
    protocol_id INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    systems JSON NOT NULL,
    tests JSON NOT NULL,
    trials INTEGER NOT NULL,
    seed BIGINT NOT NULL,
    state VARCHAR(16) NOT NULL,
    remaining INTEGER NOT NULL,
    reason TEXT,
    created_at DOUBLE NOT NULL,
    finished_at DOUBLE,
    CONSTRAINT pk_comparison PRIMARY KEY (id),
    CONSTRAINT ck_comparison_state CHECK (state IN ('running', 'done', 'failed')),
    CONSTRAINT fk_comparison_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id)
)

CREATE INDEX ix_comparison_finished_at ON comparison (finished_at)

CREATE INDEX ix_comparison_protocol_id ON comparison (protocol_id)

CREATE UNIQUE INDEX uq_comparison_running ON comparison (content_hash) WHERE state = 'running'

CREATE TABLE declaration (
    submission_id INTEGER NOT NULL,
    campaign_id INTEGER NOT NULL,
    test_set_id INTEGER NOT NULL,
    team VARCHAR(100) NOT NULL,
    account_id INTEGER,
    kind VARCHAR(16) DEFAULT '' NOT NULL,
    constrained BOOLEAN,
    description TEXT DEFAULT '' NOT NULL,
    phase VARCHAR(100) DEFAULT '' NOT NULL,
    late_seconds DOUBLE DEFAULT '0' NOT NULL,
    withdrawn_at DOUBLE,
    CONSTRAINT pk_declaration PRIMARY KEY (submission_id),
    CONSTRAINT ck_declaration_kind CHECK (kind IN ('primary', 'contrastive', '')),
    CONSTRAINT fk_declaration_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE,
    CONSTRAINT fk_declaration_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_declaration_test_set_id_test_set FOREIGN KEY(test_set_id) REFERENCES test_set (id),
    CONSTRAINT fk_declaration_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE SET NULL
)

CREATE INDEX ix_declaration_account_id ON declaration (account_id)

CREATE UNIQUE INDEX uq_declaration_primary ON declaration (campaign_id, test_set_id, team) WHERE kind = 'primary' AND withdrawn_at IS NULL

CREATE TABLE delivery (
    nightly_run_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_delivery PRIMARY KEY (id),
    CONSTRAINT uq_delivery_nightly_run_id UNIQUE (nightly_run_id),
    CONSTRAINT ck_delivery_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_delivery_nightly_run_id_nightly_run FOREIGN KEY(nightly_run_id) REFERENCES nightly_run (id) ON DELETE CASCADE
)

CREATE INDEX ix_delivery_ended_at ON delivery (ended_at)

CREATE INDEX ix_delivery_in_flight ON delivery (state, queue_class, team)

CREATE INDEX ix_delivery_pending ON delivery (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_delivery_retried ON delivery (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE error_span (
    judgments_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    annotator VARCHAR(200) NOT NULL,
    system VARCHAR(200) NOT NULL,
    segment INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    severity VARCHAR(200) NOT NULL,
    category VARCHAR(200) NOT NULL,
    missing BOOLEAN DEFAULT 0 NOT NULL,
    in_source BOOLEAN DEFAULT 0 NOT NULL,
    wave INTEGER DEFAULT '0' NOT NULL,
    CONSTRAINT pk_error_span PRIMARY KEY (judgments_id, number),
    CONSTRAINT fk_error_span_judgments_id_judgments FOREIGN KEY(judgments_id) REFERENCES judgments (id) ON DELETE CASCADE
)

CREATE INDEX ix_error_span_judgments_id_segment ON error_span (judgments_id, segment)

CREATE TABLE human_segment_score (
    judgments_id INTEGER NOT NULL,
    system VARCHAR(200) NOT NULL,
    segment INTEGER NOT NULL,
    score DOUBLE NOT NULL,
    raw DOUBLE,
    judgments INTEGER,
    CONSTRAINT pk_human_segment_score PRIMARY KEY (judgments_id, system, segment),
    CONSTRAINT fk_human_segment_score_judgments_id_judgments FOREIGN KEY(judgments_id) REFERENCES judgments (id) ON DELETE CASCADE
)

CREATE TABLE human_system_score (
    judgments_id INTEGER NOT NULL,
    system VARCHAR(200) NOT NULL,
    score DOUBLE NOT NULL,
    raw DOUBLE,
    segments INTEGER,
    judgments INTEGER,
    wins INTEGER,
    CONSTRAINT pk_human_system_score PRIMARY KEY (judgments_id, system),
    CONSTRAINT fk_human_system_score_judgments_id_judgments FOREIGN KEY(judgments_id) REFERENCES judgments (id) ON DELETE CASCADE
)

CREATE TABLE imported_score (
    import_id INTEGER NOT NULL,
    submission_id INTEGER NOT NULL,
    blob BLOB NOT NULL,
    CONSTRAINT pk_imported_score PRIMARY KEY (import_id, submission_id),
    CONSTRAINT fk_imported_score_import_id_score_import FOREIGN KEY(import_id) REFERENCES score_import (id) ON DELETE CASCADE,
    CONSTRAINT fk_imported_score_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE
)

CREATE INDEX ix_imported_score_submission_id ON imported_score (submission_id)

CREATE TABLE ladder_step (
    submission_id INTEGER NOT NULL,
    protocol_id INTEGER NOT NULL,
    metric INTEGER NOT NULL,
    team VARCHAR(100) NOT NULL,
    disclosed DOUBLE,
    improved BOOLEAN NOT NULL,
    CONSTRAINT pk_ladder_step PRIMARY KEY (submission_id, protocol_id, metric),
    CONSTRAINT fk_ladder_step_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE,
    CONSTRAINT fk_ladder_step_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id)
)

CREATE INDEX ix_ladder_step_protocol_id_team ON ladder_step (protocol_id, team)

CREATE TABLE learned_shard (
    protocol_id INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    specification VARCHAR(500) NOT NULL,
    first_block INTEGER NOT NULL,
    last_block INTEGER NOT NULL,
    reduces BOOLEAN NOT NULL,
    segments INTEGER NOT NULL,
    scored INTEGER NOT NULL,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_learned_shard PRIMARY KEY (id),
    CONSTRAINT ck_learned_shard_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_learned_shard_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id)
)

CREATE INDEX ix_learned_shard_ended_at ON learned_shard (ended_at)

CREATE INDEX ix_learned_shard_in_flight ON learned_shard (state, queue_class, team)

CREATE INDEX ix_learned_shard_pending ON learned_shard (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_learned_shard_protocol_id ON learned_shard (protocol_id)

CREATE INDEX ix_learned_shard_retried ON learned_shard (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE metrics_task_part (
    campaign_id INTEGER NOT NULL,
    protocol_id INTEGER NOT NULL,
    judgments_id INTEGER NOT NULL,
    pair VARCHAR(300) NOT NULL,
    statistic VARCHAR(30) NOT NULL,
    inputs VARCHAR(64) NOT NULL,
    result BLOB,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_metrics_task_part PRIMARY KEY (id),
    CONSTRAINT ck_metrics_task_part_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT uq_metrics_task_part_inputs UNIQUE (protocol_id, campaign_id, judgments_id, statistic, inputs),
    CONSTRAINT fk_metrics_task_part_campaign_id_campaign FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE,
    CONSTRAINT fk_metrics_task_part_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id) ON DELETE CASCADE,
    CONSTRAINT fk_metrics_task_part_judgments_id_judgments FOREIGN KEY(judgments_id) REFERENCES judgments (id) ON DELETE CASCADE
)

CREATE INDEX ix_metrics_task_part_campaign_id ON metrics_task_part (campaign_id)

CREATE INDEX ix_metrics_task_part_ended_at ON metrics_task_part (ended_at)

CREATE INDEX ix_metrics_task_part_in_flight ON metrics_task_part (state, queue_class, team)

CREATE INDEX ix_metrics_task_part_judgments_id ON metrics_task_part (judgments_id)

CREATE INDEX ix_metrics_task_part_pending ON metrics_task_part (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_metrics_task_part_retried ON metrics_task_part (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE nightly_run_step (
    nightly_run_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_nightly_run_step PRIMARY KEY (id),
    CONSTRAINT ck_nightly_run_step_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_nightly_run_step_nightly_run_id_nightly_run FOREIGN KEY(nightly_run_id) REFERENCES nightly_run (id) ON DELETE CASCADE
)

CREATE INDEX ix_nightly_run_step_ended_at ON nightly_run_step (ended_at)

CREATE INDEX ix_nightly_run_step_in_flight ON nightly_run_step (state, queue_class, team)

CREATE INDEX ix_nightly_run_step_nightly_run_id ON nightly_run_step (nightly_run_id)

CREATE INDEX ix_nightly_run_step_pending ON nightly_run_step (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_nightly_run_step_retried ON nightly_run_step (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE protocol_statistics (
    protocol_id INTEGER NOT NULL,
    corpus_statistics_id INTEGER NOT NULL,
    CONSTRAINT pk_protocol_statistics PRIMARY KEY (protocol_id, corpus_statistics_id),
    CONSTRAINT fk_protocol_statistics_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id) ON DELETE CASCADE,
    CONSTRAINT fk_protocol_statistics_corpus_statistics_id_corpus_statistics FOREIGN KEY(corpus_statistics_id) REFERENCES corpus_statistics (id)
)

CREATE INDEX ix_protocol_statistics_corpus_statistics_id ON protocol_statistics (corpus_statistics_id)

CREATE TABLE rating (
    judgments_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    annotator VARCHAR(200) NOT NULL,
    system VARCHAR(200) NOT NULL,
    segment INTEGER NOT NULL,
    value DOUBLE NOT NULL,
    label VARCHAR(200) DEFAULT '' NOT NULL,
    wave INTEGER DEFAULT '0' NOT NULL,
    seconds DOUBLE,
    CONSTRAINT pk_rating PRIMARY KEY (judgments_id, number),
    CONSTRAINT fk_rating_judgments_id_judgments FOREIGN KEY(judgments_id) REFERENCES judgments (id) ON DELETE CASCADE
)

CREATE TABLE reduction (
    protocol_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_reduction PRIMARY KEY (id),
    CONSTRAINT ck_reduction_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_reduction_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id)
)

CREATE INDEX ix_reduction_ended_at ON reduction (ended_at)

CREATE INDEX ix_reduction_in_flight ON reduction (state, queue_class, team)

CREATE INDEX ix_reduction_pending ON reduction (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_reduction_protocol_id ON reduction (protocol_id)

CREATE INDEX ix_reduction_retried ON reduction (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE shard (
    protocol_id INTEGER NOT NULL,
    first_block INTEGER NOT NULL,
    last_block INTEGER NOT NULL,
    cost DOUBLE NOT NULL,
    units DOUBLE,
    metrics JSON,
    kernel_seconds DOUBLE,
    metric_seconds JSON,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_shard PRIMARY KEY (id),
    CONSTRAINT ck_shard_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_shard_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id)
)

CREATE INDEX ix_shard_awaiting_statistics ON shard (protocol_id) WHERE state = 'pending' AND not_before = 1e15

CREATE INDEX ix_shard_ended_at ON shard (ended_at)

CREATE INDEX ix_shard_in_flight ON shard (state, queue_class, team)

CREATE INDEX ix_shard_pending ON shard (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_shard_protocol_id ON shard (protocol_id)

CREATE INDEX ix_shard_retried ON shard (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE submission_findings (
    submission_id INTEGER NOT NULL,
    findings JSON NOT NULL,
    CONSTRAINT pk_submission_findings PRIMARY KEY (submission_id),
    CONSTRAINT fk_submission_findings_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE
)

CREATE TABLE submission_request (
    account_id INTEGER NOT NULL,
    request_key VARCHAR(200) NOT NULL,
    submission_id INTEGER NOT NULL,
    CONSTRAINT pk_submission_request PRIMARY KEY (account_id, request_key),
    CONSTRAINT fk_submission_request_account_id_quota_account FOREIGN KEY(account_id) REFERENCES quota_account (id) ON DELETE CASCADE,
    CONSTRAINT fk_submission_request_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE
)

CREATE INDEX ix_submission_request_submission_id ON submission_request (submission_id)

CREATE TABLE usage_log_entry (
    submission_id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    phase VARCHAR(100) DEFAULT '' NOT NULL,
    created_at DOUBLE NOT NULL,
    queued_at DOUBLE NOT NULL,
    CONSTRAINT pk_usage_log_entry PRIMARY KEY (submission_id),
    CONSTRAINT fk_usage_log_entry_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE,
    CONSTRAINT fk_usage_log_entry_account_id_quota_account FOREIGN KEY(account_id) REFERENCES quota_account (id) ON DELETE CASCADE
)

CREATE INDEX ix_usage_log_entry_account_id_created_at ON usage_log_entry (account_id, created_at)

CREATE TABLE evaluation (
    id INTEGER NOT NULL,
    submission_id INTEGER NOT NULL,
    protocol_id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    remaining INTEGER NOT NULL,
    reduction_id INTEGER,
    reason TEXT,
    fault VARCHAR(16),
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE NOT NULL,
    started_at DOUBLE,
    finished_at DOUBLE,
    trace VARCHAR(55),
    CONSTRAINT pk_evaluation PRIMARY KEY (id),
    CONSTRAINT uq_evaluation_submission_id_protocol_id UNIQUE (submission_id, protocol_id),
    CONSTRAINT ck_evaluation_state CHECK (state IN ('queued', 'running', 'reducing', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_evaluation_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id),
    CONSTRAINT fk_evaluation_protocol_id_protocol FOREIGN KEY(protocol_id) REFERENCES protocol (id),
    CONSTRAINT fk_evaluation_reduction_id_reduction FOREIGN KEY(reduction_id) REFERENCES reduction (id)
)

CREATE INDEX ix_evaluation_failed ON evaluation (finished_at, id) WHERE state = 'failed'

CREATE INDEX ix_evaluation_finished_at ON evaluation (finished_at)

CREATE INDEX ix_evaluation_protocol_id ON evaluation (protocol_id)

CREATE INDEX ix_evaluation_reduction_id ON evaluation (reduction_id)

CREATE INDEX ix_evaluation_state ON evaluation (state)

CREATE TABLE trials (
    comparison_id INTEGER NOT NULL,
    first_trial INTEGER NOT NULL,
    last_trial INTEGER NOT NULL,
    counts BLOB,
    id INTEGER NOT NULL,
    queue_class SMALLINT NOT NULL,
    team VARCHAR(100) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    not_before DOUBLE NOT NULL,
    enqueued_at DOUBLE,
    owner VARCHAR(100),
    worker VARCHAR(200),
    lease_until DOUBLE,
    error TEXT,
    due_at DOUBLE,
    edition INTEGER DEFAULT '1' NOT NULL,
    created_at DOUBLE,
    claimed_at DOUBLE,
    ended_at DOUBLE,
    refused_by JSON,
    trace VARCHAR(55),
    CONSTRAINT pk_trials PRIMARY KEY (id),
    CONSTRAINT ck_trials_state CHECK (state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT fk_trials_comparison_id_comparison FOREIGN KEY(comparison_id) REFERENCES comparison (id) ON DELETE CASCADE
)

CREATE INDEX ix_trials_comparison_id ON trials (comparison_id)

CREATE INDEX ix_trials_ended_at ON trials (ended_at)

CREATE INDEX ix_trials_in_flight ON trials (state, queue_class, team)

CREATE INDEX ix_trials_pending ON trials (queue_class, team, edition, due_at, id, not_before) WHERE state = 'pending'

CREATE INDEX ix_trials_retried ON trials (attempts) WHERE state IN ('pending', 'enqueued') AND attempts > 0

CREATE TABLE learned_column (
    evaluation_id INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    state VARCHAR(16) NOT NULL,
    remaining INTEGER NOT NULL,
    reason TEXT,
    finished_at DOUBLE,
    CONSTRAINT pk_learned_column PRIMARY KEY (evaluation_id, metric),
    CONSTRAINT ck_learned_column_state CHECK (state IN ('waiting', 'done', 'failed')),
    CONSTRAINT fk_learned_column_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE INDEX ix_learned_column_failed ON learned_column (finished_at) WHERE state = 'failed'

CREATE INDEX ix_learned_column_waiting ON learned_column (evaluation_id) WHERE state = 'waiting'

CREATE TABLE learned_shard_evaluation (
    learned_shard_id INTEGER NOT NULL,
    evaluation_id INTEGER NOT NULL,
    CONSTRAINT pk_learned_shard_evaluation PRIMARY KEY (learned_shard_id, evaluation_id),
    CONSTRAINT fk_learned_shard_evaluation_learned_shard_id_learned_shard FOREIGN KEY(learned_shard_id) REFERENCES learned_shard (id) ON DELETE CASCADE,
    CONSTRAINT fk_learned_shard_evaluation_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE INDEX ix_learned_shard_evaluation_evaluation_id ON learned_shard_evaluation (evaluation_id)

CREATE TABLE nightly_run_evaluation (
    nightly_run_id INTEGER NOT NULL,
    evaluation_id INTEGER NOT NULL,
    system VARCHAR(200) NOT NULL,
    CONSTRAINT pk_nightly_run_evaluation PRIMARY KEY (nightly_run_id, evaluation_id),
    CONSTRAINT fk_nightly_run_evaluation_nightly_run_id_nightly_run FOREIGN KEY(nightly_run_id) REFERENCES nightly_run (id) ON DELETE CASCADE,
    CONSTRAINT fk_nightly_run_evaluation_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE INDEX ix_nightly_run_evaluation_evaluation_id ON nightly_run_evaluation (evaluation_id)

CREATE TABLE replicate_part (
    evaluation_id INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    first_block INTEGER NOT NULL,
    last_block INTEGER NOT NULL,
    blob BLOB NOT NULL,
    object_url VARCHAR(500),
    CONSTRAINT pk_replicate_part PRIMARY KEY (evaluation_id, metric, first_block),
    CONSTRAINT fk_replicate_part_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE TABLE score (
    evaluation_id INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    specification VARCHAR(500) NOT NULL,
    title VARCHAR(100) NOT NULL,
    signature TEXT NOT NULL,
    higher_is_better BOOLEAN NOT NULL,
    scale DOUBLE NOT NULL,
    columns JSON NOT NULL,
    sums BLOB NOT NULL,
    score DOUBLE,
    details JSON DEFAULT '{}' NOT NULL,
    replicate_scores BLOB NOT NULL,
    CONSTRAINT pk_score PRIMARY KEY (evaluation_id, metric),
    CONSTRAINT fk_score_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE TABLE shard_evaluation (
    shard_id INTEGER NOT NULL,
    evaluation_id INTEGER NOT NULL,
    CONSTRAINT pk_shard_evaluation PRIMARY KEY (shard_id, evaluation_id),
    CONSTRAINT fk_shard_evaluation_shard_id_shard FOREIGN KEY(shard_id) REFERENCES shard (id) ON DELETE CASCADE,
    CONSTRAINT fk_shard_evaluation_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE INDEX ix_shard_evaluation_evaluation_id ON shard_evaluation (evaluation_id)

CREATE TABLE statistics (
    evaluation_id INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    first_block INTEGER NOT NULL,
    last_block INTEGER NOT NULL,
    blob BLOB NOT NULL,
    object_url VARCHAR(500),
    CONSTRAINT pk_statistics PRIMARY KEY (evaluation_id, metric, first_block),
    CONSTRAINT fk_statistics_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE
)

CREATE TABLE system_runs (
    id INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    evaluation_id INTEGER NOT NULL,
    before_id INTEGER,
    CONSTRAINT pk_system_runs PRIMARY KEY (id),
    CONSTRAINT uq_system_runs_content_hash UNIQUE (content_hash),
    CONSTRAINT fk_system_runs_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id) ON DELETE CASCADE,
    CONSTRAINT fk_system_runs_before_id_system_runs FOREIGN KEY(before_id) REFERENCES system_runs (id) ON DELETE CASCADE
)

CREATE INDEX ix_system_runs_before_id ON system_runs (before_id)

CREATE INDEX ix_system_runs_evaluation_id ON system_runs (evaluation_id)

CREATE TABLE randomization (
    a_id INTEGER NOT NULL,
    b_id INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    trials INTEGER NOT NULL,
    seed BIGINT NOT NULL,
    difference DOUBLE NOT NULL,
    as_large INTEGER NOT NULL,
    CONSTRAINT pk_randomization PRIMARY KEY (a_id, b_id, metric, trials, seed),
    CONSTRAINT fk_randomization_a_id_system_runs FOREIGN KEY(a_id) REFERENCES system_runs (id) ON DELETE CASCADE,
    CONSTRAINT fk_randomization_b_id_system_runs FOREIGN KEY(b_id) REFERENCES system_runs (id) ON DELETE CASCADE
)

CREATE INDEX ix_randomization_b_id ON randomization (b_id)

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
