// The engine and toolguardFetch in Deno and Bun.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const libraries = new URL('../node_modules/', import.meta.url).pathname;
const program = `
import { load } from '@toolguard/core';
import { toolguardFetch } from '@toolguard/core/fetch';
const toolguard = await load();
const messages = [{ role: 'user', content: 'a' }, { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'ls', input: {} }] }, { role: 'user', content: 'b' }];
const done = toolguard.fixMessages(messages, { format: 'anthropic', send: true });
console.log(done.changed, done.before.findings[0].rule, done.messages[0] === messages[0]);
const send = toolguardFetch(toolguard, { fetch: async (url, init) => new Response(init.body) });
const sent = await send('https://api.anthropic.com/v1/messages', { method: 'POST', body: JSON.stringify({ model: 'm', max_tokens: 1, messages }) });
console.log((await sent.json()).messages[2].content[0].tool_use_id);
`;

for (const [name, scope, path, args] of [
  ['Deno', '@deno', 'deno', ['run', '--allow-read']],
  ['Bun', '@oven', 'bin/bun', ['run']],
]) {
  test(name, () => {
    // npm installs the package of this platform alone; nothing of it runs at installation.
    const [platform] = readdirSync(join(libraries, scope));
    writeFileSync('runtime.mjs', program);
    const run = spawnSync(join(libraries, scope, platform, path), [...args, 'runtime.mjs'], { encoding: 'utf8', env: { ...process.env, DENO_NO_UPDATE_CHECK: '1' } });
    assert.deepEqual([run.stdout, run.status], ['true missing-tool-result true\nt1\n', 0], run.stderr);
  });
}
