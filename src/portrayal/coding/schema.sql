-- The store of a project: raters, the log of clicks, and the answers that stand.
create table if not exists raters (
    rater text primary key, name text not null, kind text not null, since text not null
) without rowid;
create table if not exists rater_codes (rater text primary key, kept text not null) without rowid;
create table if not exists clicks (
    seq integer primary key autoincrement, click_id text not null unique, rater text not null,
    item_id text not null, about text not null, key text not null, value text, before text,
    at text not null, undone integer not null default 0
);
create index if not exists clicks_of_rater on clicks (rater, undone, seq);
create table if not exists answers (
    rater text not null, item_id text not null, about text not null, key text not null,
    value text not null, at text not null, kind text not null,
    primary key (rater, item_id, about, key)
) without rowid;
create index if not exists answers_done on answers (rater, item_id, value) where about = 'done';
create index if not exists answers_of_item on answers (item_id, kind);
