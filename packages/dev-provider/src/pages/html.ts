const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for element content and quoted attributes. Control and direction characters become visible. */
export function escapeHtml(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replace(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '\u{FFFD}')
}

const STYLE = `
:root{color-scheme:light dark;--bg:#f4f5f7;--card:#fff;--text:#1c1f23;--soft:#5b6470;--line:#d9dde3;--edge:#7b838e;--accent:#1d4ed8;--on:#fff}
@media (prefers-color-scheme:dark){:root{--bg:#15171a;--card:#1f2226;--text:#eceef1;--soft:#a3abb5;--line:#363b42;--edge:#7a838f;--accent:#7aa2ff;--on:#10131a}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;padding:1rem}
main{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.75rem;width:100%;max-width:26rem}
main.wide{max-width:72rem;align-self:start}
h1{font-size:1.35rem;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:1.5rem 0 .5rem}
p{margin:.25rem 0 1rem;color:var(--soft);overflow-wrap:anywhere}
label{display:block;font-weight:600;margin:1rem 0 .35rem}
input{width:100%;padding:.65rem .75rem;font:inherit;color:inherit;background:transparent;border:1px solid var(--edge);border-radius:8px}
button{width:100%;padding:.65rem .75rem;font:inherit;font-weight:600;border-radius:8px;border:1px solid var(--edge);background:transparent;color:inherit;cursor:pointer}
button:hover{border-color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on);margin-top:.75rem}
.quiet{border-color:transparent;color:var(--soft);margin-top:.5rem}
.users{list-style:none;margin:1rem 0 0;padding:0;display:grid;gap:.5rem}
.user{display:flex;gap:.75rem;align-items:center;text-align:left;font-weight:400}
.user img{width:40px;height:40px;border-radius:50%;flex:none}
.user span{min-width:0;overflow-wrap:anywhere}
.user b{display:block}.user small{color:var(--soft)}
table{width:100%;border-collapse:collapse;font-size:.9rem}
td,th{text-align:left;vertical-align:top;padding:.35rem .5rem .35rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{overflow-wrap:normal}
td{min-width:3.5rem}
.note{font-size:.85rem;margin:1.25rem 0 0}
code{font-size:.9em}
.big{font-size:1.15rem;letter-spacing:.1em;white-space:nowrap}
.code{font-size:1.5rem;letter-spacing:.3em;text-align:center}
.qr{max-width:13rem;margin:0 auto 1rem}
.qr svg{display:block;width:100%;height:auto;border-radius:8px}
.inline{display:flex;gap:.5rem}
.keep{white-space:nowrap}
@media (max-width:45rem){thead{display:none}tr{display:block;padding:.6rem 0;border-bottom:1px solid var(--line)}td{display:grid;min-width:0;grid-template-columns:7rem 1fr;gap:.5rem;border:0;padding:.15rem 0}td::before{content:attr(data-head);color:var(--soft)}td:has(>div:empty){display:none}td .inline{flex-wrap:wrap}}
`

/** The alert of a page that is shown again because of what was entered. */
export function problemPart(problem: string | undefined): string {
  return problem === undefined ? '' : `<p role="alert"><b>${escapeHtml(problem)}</b></p>`
}

/** A whole page. `body` is trusted markup; everything in it has gone through {@link escapeHtml}. */
export function page(title: string, body: string, width: 'narrow' | 'wide' = 'narrow'): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Development identity provider</title>
<style>${STYLE}</style>
</head>
<body>
<main${width === 'wide' ? ' class="wide"' : ''}>
${body}
</main>
</body>
</html>`
}
