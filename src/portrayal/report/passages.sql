select t.model, p.text as prompt, left(t.text, 100000) as text, length(t.text) as size
from read_parquet($texts) t join read_parquet($prompts) p using (prompt_id)
where t.outcome = 'ok' order by md5(t.text_id || $seed), t.text_id limit $most
