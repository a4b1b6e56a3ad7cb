// The examples of the page, in a project that has the package.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const page = readFileSync(join(process.env.TOOLGUARD_ROOT, 'docs', "javascript.md"), 'utf8');
const examples = [...page.matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```\n/gs)];

test('page', () => {
  assert.equal(examples.length, page.split('```js\n').length - 1);
  assert.equal(examples.length, 5);
  for (const [i, [, code, want]] of examples.entries()) {
    const name = `example${i}.mjs`;
    writeFileSync(name, code);
    const run = spawnSync(process.execPath, [name], { encoding: 'utf8' });
    assert.deepEqual([run.stdout, run.stderr, run.status], [want, '', 0]);
  }
});
