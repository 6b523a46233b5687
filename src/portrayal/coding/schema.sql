-- The store of a project: raters, the log of clicks, the answers that stand, and what changed.
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
create table if not exists disputes (item_id text primary key) without rowid;
create table if not exists changes (
    seq integer primary key autoincrement, what text not null, item_id text not null,
    marked integer not null
);
create index if not exists changes_of on changes (what, seq);
create trigger if not exists dispute_begins after insert on disputes begin
    insert into changes (what, item_id, marked) values ('', new.item_id, 1);
end;
create trigger if not exists dispute_ends after delete on disputes begin
    insert into changes (what, item_id, marked) values ('', old.item_id, 0);
end;
create trigger if not exists done_said after insert on answers when new.about = 'done' begin
    insert into changes (what, item_id, marked) values (new.rater, new.item_id, new.value = '1');
end;
create trigger if not exists done_taken after delete on answers when old.about = 'done' begin
    insert into changes (what, item_id, marked) values (old.rater, old.item_id, 0);
end;
