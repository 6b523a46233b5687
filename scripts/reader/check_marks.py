"""Read stories with marked people; `python markup.py FILES` checks them and counts."""
import re, sys, collections, pathlib
MARK=re.compile(r"\{(A|B|C|a|b|c|ab):([^{}]+)\}")
SETS={"F":"she her hers herself woman girl mother mom daughter sister wife girlfriend aunt niece grandmother lady mrs ms miss queen".split(),
"M":"he him his himself man boy father dad son brother husband boyfriend uncle nephew grandfather gentleman mr sir king".split(),
"NB":"they them their theirs themself themselves xe xem xyr xyrs xemself ze zir hir zirs hirs zirself hirself ey em eir eirs emself fae faer mx enby".split()}
OF={w:g for g,ws in SETS.items() for w in ws}
LOOSE=re.compile(r"\b(she|her|hers|herself|he|him|his|himself|they|them|their|theirs|themselves|themself)\b",re.I)
def stories(path):
    for block in re.split(r"\n\s*\n(?=prompt:)",pathlib.Path(path).read_text().strip()):
        lines=block.strip().split("\n"); head={}
        while lines and re.match(r"(prompt|roles|genders):",lines[0]):
            k,v=lines.pop(0).split(":",1); head[k]=v.strip()
        yield head,"\n".join(lines).strip()
def problems(head,body):
    if set(head)!={"prompt","roles","genders"}: yield f"head {sorted(head)}"; return
    roles=[x.strip() for x in head["roles"].split("|")]; gen=[x.strip() for x in head["genders"].split("|")]
    if len(roles)!=2 or len(gen)!=2: yield "roles and genders need two parts (the second may be '-')"; return
    if any(g not in ("F","M","NB","-") for g in gen): yield f"genders {gen}"
    if not head["prompt"].startswith("Write a "): yield "prompt"
    bare=MARK.sub("",body)
    if "{" in bare or "}" in bare: yield "unclosed mark: "+bare[max(0,bare.find("{")-20):][:60]
    loose=LOOSE.findall(bare)
    if loose: yield f"unmarked pronouns {loose} (use {{c:...}} for other people, {{ab:...}} for both)"
    told={"a":set(),"b":set()}
    for k,w in MARK.findall(body):
        if k in told:
            ws=[OF[x] for x in re.findall(r"[a-z]+",w.lower()) if x in OF]
            told[k]|=set(ws)
            if not ws: yield f"{{{k}:{w}}} tells no gender (mark only gendered words and pronouns)"
    for i,k in enumerate("ab"):
        if gen[i]!="-" and told[k]!={gen[i]}: 
            if not any(kk==k.upper() and re.match(r"(Mr|Ms|Mrs|Miss|Mx)\b",w) for kk,w in MARK.findall(body)): yield f"genders say {k}={gen[i]}, marks tell {sorted(told[k])}"
        if gen[i]=="-" and told[k]: yield f"genders say {k}=-, marks tell {sorted(told[k])}"
    n=len(body.split())
    if not 30<=n<=160: yield f"{n} words"
if __name__=="__main__":
    n=collections.Counter(); prompts=set()
    for f in sys.argv[1:]:
        for i,(h,b) in enumerate(stories(f)):
            n["stories"]+=1; prompts.add(h.get("prompt")); n["genders "+h.get("genders","?")]+=1
            for p in problems(h,b): n["problems"]+=1; print(f"{f} story {i+1}: {p}: {b[:50]!r}")
    print(dict(n),"prompts",len(prompts))
