// Measures @toolguard/core as npm/build.sh has built it, and writes the table of docs/javascript.md.
//
//	node npm/measure.mjs [--write]
//
// Each time is the median of five processes. In each, a call runs for a second, in which V8 compiles what runs
// often again, and then for half a second, of which the median counts. Measure on a machine that does nothing
// else.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const core = new URL('core/dist/', import.meta.url);
const page = new URL('../docs/javascript.md', import.meta.url);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

/** A history of about so many bytes as JSON. If it is broken, every fourth call has no result. */
function history(bytes, broken) {
  const out = [];
  for (let n = 0, size = 2; size < bytes; n++) {
    const id = `toolu_${n}`;
    const turn = [
      { role: 'user', content: `question ${n}` },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'ls', input: { path: `/srv/${n}` } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'a.txt\nb.txt\n'.repeat(40) }] },
      { role: 'assistant', content: `answer ${n}` },
    ];
    if (broken && n % 4 === 1) turn.splice(2, 1);
    out.push(...turn);
    size += JSON.stringify(turn).length;
  }
  return JSON.stringify(out);
}

/** The milliseconds that a call takes. */
function time(call) {
  const list = [];
  for (const begun = performance.now(); performance.now() - begun < 1000; ) call();
  for (const begun = performance.now(); list.length < 3 || performance.now() - begun < 500; ) {
    const from = performance.now();
    call();
    list.push(performance.now() - from);
  }
  return median(list);
}

/** What one process measures. */
async function once() {
  const { load } = await import(new URL('index.js', core));
  const from = performance.now();
  const toolguard = await load();
  const got = { load: performance.now() - from };
  const options = { format: 'anthropic', send: true };
  for (const [name, bytes] of Object.entries({ '100 KB': 100_000, '1 MB': 1_000_000 })) {
    const whole = history(bytes, false);
    const broken = history(bytes, true);
    const first = performance.now();
    toolguard.check(whole, options);
    got[`${name}, first`] = performance.now() - first;
    got[`${name}, parse`] = time(() => JSON.parse(whole));
    got[`${name}, check`] = time(() => toolguard.check(whole, options));
    got[`${name}, fix`] = time(() => toolguard.fix(broken, options));
  }
  got.memory = toolguard.memory / 1e6;
  return got;
}

if (process.argv[2] === '--once') {
  console.log(JSON.stringify(await once()));
} else {
  const runs = Array.from({ length: 5 }, () => JSON.parse(execFileSync(process.execPath, [import.meta.filename, '--once'], { encoding: 'utf8' })));
  const of = (name) => median(runs.map((run) => run[name]));
  const wasm = readFileSync(new URL('toolguard.wasm', core));
  const packed = {
    gzip: gzipSync(wasm, { level: 9 }).length,
    brotli: brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } }).length,
  };
  const mb = (n) => `${(n / 1e6).toFixed(2)} MB`;
  const ms = (name) => `${of(name).toFixed(of(name) < 10 ? 1 : 0)} ms`;
  const times = (name) => `${(of(`${name}, check`) / of(`${name}, parse`)).toFixed(0)}`;
  const table = `| measured | |
|---|---|
| \`toolguard.wasm\`; as gzip; as brotli | ${mb(wasm.length)}; ${mb(packed.gzip)}; ${mb(packed.brotli)} |
| \`load\`, with a first check | ${ms('load')} |
| the first check of 100 KB after it | ${ms('100 KB, first')} |
| \`check\` of 100 KB without errors | ${ms('100 KB, check')}, ${times('100 KB')} × \`JSON.parse\` |
| \`fix\` of 100 KB, a fourth of the calls without results | ${ms('100 KB, fix')} |
| \`check\` of 1 MB without errors | ${ms('1 MB, check')}, ${times('1 MB')} × \`JSON.parse\` |
| \`fix\` of 1 MB, a fourth of the calls without results | ${ms('1 MB, fix')} |
| memory of the engine after that | ${of('memory').toFixed(0)} MB |
`;
  console.log(table);
  console.log(`Node.js ${process.version}, ${cpus()[0].model}, load ${loadavg()[0].toFixed(1)}`);
  if (process.argv[2] === '--write') {
    const text = readFileSync(page, 'utf8');
    const from = text.indexOf('| measured | |\n');
    if (from < 0) throw new Error('docs/javascript.md: expected the table');
    writeFileSync(page, text.slice(0, from) + table + text.slice(text.indexOf('\n\n', from) + 1));
  }
}
