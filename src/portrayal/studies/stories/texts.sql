with wanted as (
    select prompt_id, text as prompt from read_parquet($prompts)
    where ($domain = 'all' or strata['domain'] = $domain)
      and (strata['condition'] is null or (strata['condition'] = 'power-laden') = $laden)
), chosen as (
    select t.text_id, t.prompt_id, t.model,
           a.subject_name, a.object_name, a.subject_spans, a.object_spans
    from read_parquet($texts) t
    join wanted using (prompt_id)
    join read_parquet($people) a using (text_id)
    where t.outcome = 'ok' and a.error is null and (
        ($subject and (not $named or list_contains($names, lower(a.subject_name)))
                  and (not $gendered or a.subject_gender = $gender))
        or ($object and (not $named or list_contains($names, lower(a.object_name)))
                    and (not $gendered or a.object_gender = $gender)))
    order by md5(t.text_id || $seed), t.text_id limit $most
)
select c.model, w.prompt, left(t.text, 100000) as text, length(t.text) as size,
       c.subject_name, c.object_name, c.subject_spans[1:200] as subject_spans,
       c.object_spans[1:200] as object_spans
from chosen c join wanted w using (prompt_id) join read_parquet($texts) t using (text_id)
order by md5(c.text_id || $seed), c.text_id
