import { NextRequest, NextResponse } from 'next/server.js'
import { senders } from './lib/headers.mjs'
const h = senders.browser.page
const mk = () => new NextRequest('https://app.example.com/page', { headers: h })
const P='x-middleware-request-'
const c = {
 floor: () => { mk(); return NextResponse.next() },
 sets: () => { const r = mk(); const res = NextResponse.next(); const n=[]; r.headers.forEach((v,k)=>{n.push(k);res.headers.set(P+k,v)}); res.headers.set(P+'x-idp-return-path','/page'); res.headers.set('x-middleware-override-headers', n.join(',')); return res },
 record: () => { const r = mk(); const rec={'x-middleware-next':'1'}; const n=[]; r.headers.forEach((v,k)=>{n.push(k);rec[P+k]=v}); rec[P+'x-idp-return-path']='/page'; rec['x-middleware-override-headers']=n.join(','); return new NextResponse(null,{headers:rec}) },
 forEachOnly: () => { const r = mk(); const n=[]; r.headers.forEach((v,k)=>{n.push(k)}); return [n,NextResponse.next()] },
 emptyNext: () => NextResponse.next(),
 plainNext: () => new NextResponse(null,{headers:{'x-middleware-next':'1'}}),
 mk,
 nextUrl: () => { const r = mk(); r.nextUrl.pathname; return NextResponse.next() },
 url: () => { const r = mk(); new URL(r.url).pathname; return NextResponse.next() },
}
const names = Object.keys(c)
for (const n of names) for (let i=0;i<8000;i++) c[n]()
const res = Object.fromEntries(names.map(n=>[n,[]]))
for (let k=0;k<25;k++) for (const n of names) { const s=process.cpuUsage(); for(let i=0;i<600;i++) c[n](); gc({type:'minor'}); const {user,system}=process.cpuUsage(s); res[n].push((user+system)/600) }
for (const n of names) console.log(n, res[n].sort((a,b)=>a-b)[6].toFixed(2), (res[n][6]/res.floor.sort((a,b)=>a-b)[6]).toFixed(2))
