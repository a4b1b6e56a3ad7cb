// What becomes of faults of the engine, with a build that has some: see npm/wasm/planted.go.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from '@toolguard/core';

const module = await WebAssembly.compile(await readFile(process.env.TOOLGUARD_PLANTED));
const history = (id) => [
  { role: 'user', content: 'a' },
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'ls', input: {} }] },
  { role: 'user', content: 'b' },
];
const options = { format: 'anthropic', send: true };

test('an internal error returns the input, and the engine lives on', async () => {
  const toolguard = await load({ wasm: module });
  const h = history('planted-panic');
  const r = toolguard.fixMessages(h, options);
  assert.equal(r.messages, h);
  assert.deepEqual([r.changed, r.before, r.after, r.repairs, r.error.code], [false, null, null, [], 'internal']);
  assert.match(r.error.message, /^internal error in toolguard \S+; please report it at /);
  assert.ok(!r.error.message.includes('planted'));
  // Lines are left out of the file.
  assert.match(r.error.engineStack, /\nmain\.plant\(\)\n\t\?:0 \+0x[0-9a-f]+\nmain\.answer\.func1\(\)\n/);
  const text = JSON.stringify(h);
  assert.equal(toolguard.fix(text, options).output, text);
  const cut = toolguard.trim(text, { keepLast: 1 }, { format: 'anthropic' });
  assert.deepEqual([cut.output, cut.changed, cut.report, cut.error.code], [text, false, null, 'internal']);
  assert.throws(() => toolguard.check(text, options), { code: 'internal' });
  assert.equal(toolguard.fixMessages(history('toolu_1'), options).changed, true);
});

for (const id of ['planted-stack', 'planted-memory']) {
  test(`after ${id} the engine is dead, and load makes a new one`, async () => {
    const toolguard = await load({ wasm: module });
    assert.throws(() => toolguard.fixMessages(history(id), options), (e) => e.code === 'dead' && /^the engine ended: .+; load makes a new one$/s.test(e.message));
    assert.throws(() => toolguard.fixMessages(history('toolu_1'), options), { code: 'dead' });
    assert.equal((await load({ wasm: module })).fixMessages(history('toolu_1'), options).changed, true);
  });
}
