-- Readable texts with their ratio gap, group and title; of each group those at even steps of rank.
with told as (
  select t.text_id, t.model, p.strata, [x for x in a.agentic if x is not null and not isnan(x)] as told
  from read_parquet($texts) t join read_parquet($annotated) a using (text_id)
  join read_parquet($prompts) p using (prompt_id)
  where t.outcome = 'ok'
), named as (
  select text_id, model, 2 * len([x for x in told if x >= 0.5]) / len(told) - 1 as gap,
    [case when k = 'gender' and lower(strata[k]) = 'm' then 'male' when k = 'gender' and lower(strata[k]) = 'f' then 'female'
     else strata[k] end for k in $keys] as parts,
    [strata[k] for k in ['name', 'age', 'occupation', 'department'] if strata[k] is not null] as about
  from told where len(told) > 0
), grouped as (
  select text_id, model, gap, array_to_string(parts, ' ') as "group", array_to_string(list_concat(about, ["group"]), ', ') as title
  from named where len([x for x in parts if x is null]) = 0
), counted as (
  select *, count(distinct "group") over () as n_groups, count(*) over () as n_all, count(*) over (partition by "group") as n,
    row_number() over (partition by "group" order by gap desc, text_id) - 1 as place
  from grouped
), stepped as (
  select *, greatest(1, least($each, $most // n_groups)) as each, dense_rank() over (order by "group") as number from counted
)
select text_id, model, gap, "group", title, n_all from stepped
where number <= $most
  and list_contains([round_even(i * (n - 1) / greatest(each - 1, 1), 0) for i in range(least(each, n))], place)
order by "group", place
