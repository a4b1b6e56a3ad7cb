// The engine in WebAssembly and the command find and repair the same, in every fixture and, if it is
// there, every file of a corpus of real transcripts.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { load, ToolguardError } from '@toolguard/core';
import { histories, random, toAnthropic, toChat, toModelMessages, toResponses } from './histories.mjs';

const command = process.env.TOOLGUARD;
const toolguard = await load();
const largest = 4 << 20;

function files(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && ['.json', '.jsonl'].includes(extname(e.name)))
    .map((e) => join(e.parentPath, e.name));
}

for (const [what, root, least] of [['fixtures', process.env.TOOLGUARD_FIXTURES, 400], ['corpus', process.env.TOOLGUARD_CORPUS, 200]]) {
  test(`${what}: same reports, same bytes`, { skip: !root || !existsSync(root) }, (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'parity-'));
    try {
      // Short names, each in a directory of its own, because neighbours can say what a file is.
      const list = [];
      for (const [i, path] of files(root).entries()) {
        const text = readFileSync(path);
        if (text.length > largest) continue;
        const name = `${i}/f${extname(path)}`;
        mkdirSync(join(dir, String(i)));
        writeFileSync(join(dir, name), text);
        list.push({ name, path, text });
      }
      const run = (...args) => spawnSync(command, args, { cwd: dir, maxBuffer: 1 << 30, encoding: 'utf8' });
      const names = list.map((f) => f.name);
      const lines = run('check', '--isolated', '--jobs', '1', '--skip-unrecognized', '-o', 'jsonl', '--send', ...names).stdout.trimEnd().split('\n').map((l) => JSON.parse(l));
      const native = new Map();
      for (const { type, ...line } of lines) {
        if (type === 'file') native.set(line.path, { file: line, findings: [] });
        if (type === 'finding') native.get(line.path).findings.push(line);
      }
      // The edits of jsonl are those of check.
      run('fix', '--isolated', '--jobs', '1', '--quiet', '--skip-unrecognized', '--send', '--unsafe', '--write', '--force', '--backup=none', ...names);
      let checked = 0, changed = 0;
      const refused = {};
      for (const { name, path, text } of list) {
        const want = native.get(name);
        let report;
        try {
          report = toolguard.check(text, { name, send: true, edits: true });
        } catch (e) {
          assert.ok(e instanceof ToolguardError, `${path}: ${e.stack}`);
          refused[e.code] = (refused[e.code] ?? 0) + 1;
          if (e.code !== 'not-transcript' || want) assert.fail(`${path}: ${e.code}: ${e.message}`);
          continue;
        }
        // With --skip-unrecognized, the command leaves out what is not clearly a transcript.
        if (!want) continue;
        checked++;
        assert.deepEqual(report.files[0], want.file, path);
        assert.deepEqual(report.findings, want.findings, path);
        let output = text;
        try {
          output = toolguard.fix(text, { name, send: true, allow: 'unsafe' }).output;
        } catch (e) {
          assert.ok(['check-only', 'proof'].includes(e.code), `${path}: ${e.stack}`);
        }
        const wrote = readFileSync(join(dir, name));
        assert.ok(wrote.equals(output), `${path}: the repaired bytes differ`);
        if (!wrote.equals(text)) changed++;
      }
      t.diagnostic(`${checked} of ${list.length} files, ${changed} repaired, refused: ${JSON.stringify(refused)}`);
      assert.ok(checked >= least && changed > 50, `${checked} checked, ${changed} changed`);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
}

test('random broken histories: same bytes', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parity-'));
  try {
    const seed = Number(process.env.TOOLGUARD_SEED ?? 1);
    const dice = random(seed);
    // Each has one fault of an agent, and some of nobody: elements that are lost, doubled or elsewhere, and odd texts.
    const odd = ['\u2028', '\ud83d', '', '\\"', '\u0000', 'é😀', -0, 2 ** 60, 1e-7, null, { ['__proto__']: 1 }, [[]]];
    const list = histories(75, seed).flatMap(({ history }) => [['anthropic', toAnthropic], ['openai-chat', toChat], ['openai-responses', toResponses], ['ai-sdk', toModelMessages]].map(([format, to]) => {
      const messages = to(history);
      for (let n = dice(4); n > 0; n--) {
        const [m] = messages.splice(dice(messages.length), dice(2), ...(dice(2) ? [messages[dice(messages.length)]] : []));
        if (m && dice(2)) messages.splice(dice(messages.length + 1), 0, { ...m, [dice(2) ? 'content' : 'x']: odd[dice(odd.length)] });
      }
      return { format, text: JSON.stringify(messages.filter(Boolean), null, dice(3)) };
    }));
    let changed = 0, kept = 0;
    for (const format of new Set(list.map((h) => h.format))) {
      const own = list.filter((h) => h.format === format);
      for (const [i, { text }] of own.entries()) {
        mkdirSync(join(dir, format, String(i)), { recursive: true });
        writeFileSync(join(dir, format, String(i), 'f.json'), text);
      }
      spawnSync(command, ['fix', '--isolated', '--jobs', '1', '--quiet', '--from', format, '--send', '--unsafe', '--write', '--force', '--backup=none', ...own.map((_, i) => `${i}/f.json`)], { cwd: join(dir, format) });
      for (const [i, { text }] of own.entries()) {
        const wrote = readFileSync(join(dir, format, String(i), 'f.json'), 'utf8');
        const options = { format, send: true, allow: 'unsafe', name: `${i}/f.json` };
        let output = text;
        try {
          output = toolguard.fix(text, options).output;
        } catch (e) {
          assert.ok(['not-transcript', 'proof'].includes(e.code), `${text}: ${e.stack}`);
        }
        assert.equal(output, wrote, text);
        if (output === text) continue;
        changed++;
        const messages = JSON.parse(text);
        const before = structuredClone(messages);
        const fixed = toolguard.fixMessages(messages, options).messages;
        assert.deepEqual(messages, before);
        assert.deepEqual(fixed, JSON.parse(toolguard.fix(JSON.stringify(messages), options).output), text);
        // Whatever has a twin in the old list is an element of the old list.
        const texts = new Set(messages.map((m) => JSON.stringify(m)));
        assert.ok(fixed.every((m) => messages.includes(m) || !texts.has(JSON.stringify(m))), text);
        kept += fixed.filter((m) => messages.includes(m)).length;
      }
    }
    t.diagnostic(`${list.length} histories, ${changed} repaired, ${kept} messages are the same objects`);
    assert.ok(changed > list.length / 2, `${changed} repaired`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
