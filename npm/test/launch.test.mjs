// The package toolguard as npm installs it: npx starts the program of this platform.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { test } from 'node:test';

const { TOOLGUARD_VERSION: version, TOOLGUARD_ROOT: root } = process.env;
const npx = (args, options) => spawnSync('npx', ['--no-install', ...args], { encoding: 'utf8', ...options });
const broken = `${root}/testdata/transcripts/anthropic/broken/cut-session.json`;
const bin = (name) => new URL(`node_modules/.bin/${name}`, import.meta.url).pathname;

test('npx passes arguments, input, output and exit codes', () => {
  assert.deepEqual(npx(['toolguard', '--version']).stdout, `toolguard ${version}\n`);
  const found = npx(['toolguard', 'check', '-o', 'concise', broken]);
  assert.equal(found.status, 1);
  assert.match(found.stdout, /cut-session\.json:\d+:\d+: error/);
  assert.equal(npx(['toolguard', 'check', '/nowhere']).status, 2);
  const whole = '[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]';
  const fixed = npx(['toolguard', 'fix', '--from', 'anthropic', '-'], { input: whole });
  assert.deepEqual([fixed.status, fixed.stdout], [0, whole]);
});

test('toolguard finds the proxy beside it, and so does npx', () => {
  assert.equal(npx(['toolguard-proxy', '--version']).stdout, `toolguard-proxy ${version}\n`);
  const help = npx(['toolguard', 'proxy', '--version']);
  assert.deepEqual([help.status, help.stdout], [0, `toolguard-proxy ${version}\n`], help.stderr);
});

test('a signal ends the program and this one', { timeout: 60_000 }, async () => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const child = spawn(process.execPath, [bin('toolguard'), 'check', '-'], { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.write('[');
    // The program reads once it runs; before that, the starter ends by the signal alone.
    while (spawnSync('pgrep', ['-P', String(child.pid)]).status !== 0) await new Promise((r) => setTimeout(r, 20));
    const below = Number(spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).stdout);
    child.kill(signal);
    const [code, by] = await once(child, 'exit');
    assert.ok(by === signal || code === 128 + { SIGTERM: 15, SIGINT: 2 }[signal] || code === 2, `${signal}: ${code} ${by}`);
    assert.equal(existsSync(`/proc/${below}`), false, 'the program must have ended');
  }
});

test('a missing platform package is named', () => {
  const name = `@toolguard/cli-${process.platform}-${process.arch}`;
  const dir = new URL(`node_modules/${name}`, import.meta.url);
  const away = new URL('away', import.meta.url);
  renameSync(dir, away);
  try {
    const r = npx(['toolguard', 'check', broken]);
    assert.equal(r.status, 2);
    assert.ok(r.stderr.startsWith(`toolguard: the package ${name} is not installed: install toolguard again without --omit=optional`), r.stderr);
  } finally {
    renameSync(away, dir);
  }
});
