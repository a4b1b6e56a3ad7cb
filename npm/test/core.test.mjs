// What @toolguard/core does, from the installed package.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load, ToolguardError } from '@toolguard/core';

const toolguard = await load();
const call = (id, name = 'ls') => ({ role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] });
const result = (id, text) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] });
const say = (content) => ({ role: 'user', content });
const broken = () => [say('a'), call('toolu_1'), say('b')];
const format = 'anthropic';
const code = (code, message) => (e) => {
  assert.ok(e instanceof ToolguardError, String(e));
  assert.deepEqual([e.code, e.message], [code, message]);
  return true;
};

test('check reports what the command reports', () => {
  const report = toolguard.check(JSON.stringify(broken()), { format, send: true, name: 'h.json', edits: true });
  const [f] = report.findings;
  assert.deepEqual(
    [report.findings.length, f.rule, f.severity, f.path, f.pointer, f.call_id, f.tool, f.start.offset, f.fix.class],
    [1, 'missing-tool-result', 'error', 'h.json', '/1/content/0/id', 'toolu_1', 'ls', 86, 'additive'],
  );
  assert.equal(f.fix.edits.length, 1);
  assert.equal(report.summary.errors, 1);
  assert.equal(report.tool.version, toolguard.version);
});

test('fix keeps the kind of the input, and whole input itself', () => {
  const text = JSON.stringify(broken());
  const a = toolguard.fix(text, { format, send: true, placeholder: 'none of {tool}' });
  assert.equal(a.output, '[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"none of ls","is_error":true},{"type":"text","text":"b"}]}]');
  const bytes = new TextEncoder().encode(text);
  const b = toolguard.fix(bytes, { format, send: true, placeholder: 'none of {tool}' });
  assert.equal(new TextDecoder().decode(b.output), a.output);
  assert.deepEqual(a.repairs.map((r) => r.operation), ['insert-result']);
  assert.deepEqual([a.before.findings.length, a.after.findings.length, a.changed], [1, 0, true]);
  const whole = new TextEncoder().encode(a.output);
  const c = toolguard.fix(whole, { format, send: true });
  assert.equal(c.output, whole);
  assert.equal(c.changed, false);
});

test('messages that did not change are the same objects', () => {
  const h = [say('a'), call('toolu_1'), result('toolu_1', 'x'), say('a'), call('toolu_2'), say('a'), call('toolu_3'), result('toolu_3', 'y')];
  const before = structuredClone(h);
  const r = toolguard.fixMessages(h, { format, send: true });
  assert.deepEqual(r.messages.map((m) => h.indexOf(m)), [0, 1, 2, 3, 4, -1, 6, 7]);
  assert.deepEqual(h, before, 'the list that was passed must not change');
  const again = toolguard.fixMessages(r.messages, { format, send: true });
  assert.equal(again.messages, r.messages);
  assert.equal(again.changed, false);
});

test('a message that moved is the same object, also among equal ones', () => {
  const ask = { role: 'user', content: 'q' };
  const calls = { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }] };
  const answer = { role: 'tool', tool_call_id: 'c1', content: 'x' };
  const twin = { role: 'user', content: 'q' };
  const r = toolguard.fixMessages([ask, calls, twin, answer], { format: 'openai-chat', send: true });
  assert.deepEqual(r.messages, [ask, calls, answer, twin]);
  assert.deepEqual(r.messages.map((m) => [ask, calls, answer, twin].indexOf(m)), [0, 1, 2, 3]);
});

test('what JSON cannot hold is an error with its path, or stays', () => {
  for (const [value, what] of [
    [1n, 'a bigint'], [new Date(0), 'a Date'], [new Uint8Array(2), 'a Uint8Array'], [() => 0, 'a function'], [new URL('data:,'), 'a URL'],
    [new Map(), 'a Map'], [Symbol('a'), 'a symbol'],
  ]) {
    const h = [say('a'), { role: 'user', content: [{ type: 'text', text: 'b' }, { type: 'image', image: value }] }];
    assert.throws(() => toolguard.fixMessages(h, { format: 'ai-sdk' }), code('lossy', `messages[1].content[1].image: JSON cannot hold ${what}`));
  }
  assert.throws(() => toolguard.fixMessages([{ role: 'user', content: [undefined] }], { format }), code('lossy', 'messages[0].content[0]: JSON cannot hold undefined in a list'));
  assert.throws(() => toolguard.fixMessages([{ role: 'user', content: NaN }], { format, opaque: 'keep' }), code('lossy', 'messages[0].content: JSON cannot hold NaN'));
  const round = say('a');
  round.self = round;
  assert.throws(() => toolguard.fixMessages([round], { format }), code('lossy', 'messages[0].self: JSON cannot hold a cycle'));

  const bytes = new Uint8Array([1, 2]);
  const h = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'ls', input: { at: new Date(0) } }, { type: 'file', data: bytes, mediaType: 'image/png' }] },
    { role: 'user', content: [{ type: 'text', text: '' }, { type: 'image', image: bytes }] },
  ];
  const r = toolguard.fixMessages(h, { format: 'ai-sdk', send: true, opaque: 'keep' });
  assert.equal(r.messages[1], h[1]);
  assert.ok(r.changed);
  const images = r.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((p) => p.type === 'image');
  assert.equal(images.length, 1);
  assert.equal(images[0].image, bytes);
});

test('a value that JSON cannot hold is not written into a text', () => {
  const h = [
    { role: 'user', content: 'a' },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'ls', output: { type: 'json', value: { at: new Date(0) } } }] },
    { role: 'user', content: 'b' },
  ];
  const options = { format: 'ai-sdk', send: true, opaque: 'keep', allow: 'unsafe', strategies: { 'orphan-tool-result': 'text' } };
  assert.throws(() => toolguard.fixMessages(h, options), code('lossy', 'the repair would write a value that JSON cannot hold into a text'));
});

test('instances of classes do not hide the calls in them', () => {
  class Message {
    constructor(fields) {
      Object.assign(this, fields);
    }
  }
  const h = [say('a'), call('toolu_1'), result('toolu_1', 'x'), say('b')];
  const options = { format, send: true, opaque: 'keep' };
  const hidden = (list, path) => assert.throws(() => toolguard.fixMessages(list, options), code('lossy', `${path}: JSON cannot hold a Message`));
  hidden(h.with(1, new Message(h[1])), 'messages[1]');
  hidden(h.with(1, { ...h[1], content: [new Message(h[1].content[0])] }), 'messages[1].content[0]');
  hidden([{ role: 'assistant', parts: new Message({}) }], 'messages[0].parts');
  hidden([{ type: 'ai', data: { content: '', tool_calls: [new Message({})] } }], 'messages[0].data.tool_calls[0]');
});

test('a byte order mark stays, and half of a surrogate pair is an error', () => {
  const text = '\ufeff' + JSON.stringify(broken());
  const r = toolguard.fix(text, { format, send: true });
  assert.equal(r.output.slice(0, 30), text.slice(0, 30));
  assert.ok(r.changed);
  const half = text.replace('"a"', '"\ud83d"');
  assert.throws(() => toolguard.fix(half, { format, send: true }), code('input', 'half of a surrogate pair at index 28, which UTF-8 cannot hold: write it as an escape'));
  const whole = JSON.stringify([say('@')]).replace('@', '\ud83d');
  assert.equal(toolguard.fix(whole, { format, send: true }).output, whole);
  assert.equal(toolguard.check(half, { format, send: true }).summary.errors, 1);
  const h = [say('a\ud83d'), call('toolu_1'), say('b\ud83d')];
  assert.equal(toolguard.fixMessages(h, { format, send: true }).messages[2].content[1].text, 'b\ud83d');
});

test('errors say what is wrong', () => {
  for (const list of [undefined, null, 'text', {}, new Set()]) {
    assert.throws(() => toolguard.fixMessages(list, { format }), code('not-transcript', 'not a transcript: expected a list of messages'));
  }
  assert.throws(() => toolguard.fixMessages([say('a'), , say('b')], { format }), code('lossy', 'messages[1]: JSON cannot hold undefined in a list'));
  assert.throws(() => toolguard.fixMessages([]), code('option', 'option format is missing: the format of the messages'));
  assert.throws(() => toolguard.fixMessages([], { format, opaque: true }), code('option', 'option opaque: expected error or keep'));
  assert.throws(() => toolguard.trim('[]'), (e) => e.code === 'option' && e.message.startsWith('nothing to trim; '));
  assert.throws(() => toolguard.trim('[]', { keepLast: 1, count: 5 }), code('option', 'option count: expected a function'));
  for (const [keepLast, what] of [[NaN, 'a finite number, got NaN'], [Infinity, 'a finite number, got Infinity'], [1n, 'another type than bigint'], [() => 1, 'another type than function'], ['1', 'another type than string'], [1.5, 'another type than number 1.5']]) {
    assert.throws(() => toolguard.trim('[]', { keepLast, maxBytes: 9 }), code('option', `option keepLast: expected ${what}`));
  }
  assert.throws(() => toolguard.check('[]', { format: Symbol('a') }), code('option', 'option format: expected another type than symbol'));
  assert.throws(() => toolguard.check('[]', { tools: [1n] }), code('option', 'options: Do not know how to serialize a BigInt'));
  assert.throws(() => toolguard.check('hello'), code('not-transcript', "not a transcript: invalid JSON: unexpected character 'h' at byte 1"));
  assert.throws(() => toolguard.check('[]', { format: 'anthropix' }), code('option', 'unknown format "anthropix"; did you mean "anthropic"?'));
  assert.throws(() => toolguard.check('[]', { zork: 1 }), code('option', 'unknown option "zork"'));
  assert.throws(() => toolguard.check('[]', { send: 'yes' }), code('option', 'option send: expected another type than string'));
  assert.throws(() => toolguard.check('[]', { request: true }), code('option', 'option request needs the format of an API, such as anthropic, openai-chat, openai-responses or gemini'));
  assert.throws(() => toolguard.fix('[]', { strategies: { 'missing-tool-result': 'x' } }), code('option', 'unknown strategy "x" (known for missing-tool-result: insert, strip, strip-turn, text, leave)'));
  assert.throws(() => toolguard.fixMessages([], {}), code('option', 'option format is missing: the format of the messages'));
  assert.throws(() => toolguard.check(42), code('option', 'expected a string or a Uint8Array as the input'));
  assert.throws(() => toolguard.check('{"model":"m","messages":[{"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}}]}]}', { format, request: true }), (e) => e.code === 'not-transcript');
});

test('trim cuts at boundaries and asks the counter', () => {
  const h = [];
  for (let i = 0; i < 10; i++) h.push(say('question ' + i), call('toolu_' + i), result('toolu_' + i, 'x'.repeat(100)), { role: 'assistant', content: 'done' });
  const text = JSON.stringify(h);
  const r = toolguard.trim(text, { keepLast: 6 }, { format });
  assert.deepEqual(JSON.parse(r.output), h.slice(32));
  assert.deepEqual([r.report.dropped, r.report.kept.messages, r.report.cut.index], [32, 8, 32]);
  let counted = 0;
  const c = toolguard.trim(text, { maxTokens: 300, count: (t) => (counted++, t.length / 4) }, { format });
  assert.ok(counted > 0 && c.changed && c.report.kept.tokens <= 300, JSON.stringify(c.report));
  assert.throws(() => toolguard.trim(text, { maxTokens: 300, count: () => { throw new RangeError('mine'); } }, { format }), RangeError);
  for (const n of [NaN, Infinity, null, '7', true, Promise.resolve(7), -1]) {
    assert.throws(() => toolguard.trim(text, { maxTokens: 300, count: () => n }, { format }), code('option', 'option count: expected a number of tokens from 0'));
  }
  assert.throws(() => toolguard.trim(text, { maxTokens: 300, count: () => toolguard.check(text) }, { format }), code('option', 'option count: it must not call toolguard'));
  assert.throws(() => toolguard.trim(text, { maxBytes: 10 }, { format }), code('no-cut', 'no safe cut: what follows the last user boundary is larger than the limit. maxBytes: 357 would keep 4 messages (357 bytes).'));
  assert.throws(() => toolguard.trim(JSON.stringify([say('a'), call('toolu_1'), result('toolu_1', 'x'.repeat(900)), call('toolu_2'), result('toolu_2', 'y')]), { maxBytes: 400 }, { format }), code('no-cut', "no safe cut: the only user message is the first. boundary: 'pair', pin: 1 would keep 3 messages (211 bytes). resultsMaxBytes would shorten results; one has 902 bytes."));
  assert.throws(() => toolguard.trim(text, {}, { format }), (e) => e.code === 'option');
  assert.equal(toolguard.check(text, { format }).findings.length, 0, 'the engine must live on');
});

test('explain finds the rule of an error', () => {
  const e = toolguard.explain('messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_x');
  assert.equal(e.sure, true);
  assert.equal(e.rules[0].name, 'missing-tool-result');
  assert.equal(e.rules[0].said_by, 'anthropic, anthropic-thinking, anthropic-no-thinking');
  assert.deepEqual(toolguard.explain('orphan-tool-result').rules.map((r) => r.name), ['orphan-tool-result']);
  assert.deepEqual(toolguard.explain('the weather is fine'), { sure: false, rules: [], advice: null });
});

test('odd input ends in a report or an error of this package', () => {
  const odd = ['', ' ', '[', '[]', '{}', 'null', '"', '\u0000', '[[[[', '['.repeat(5000), '{"messages":1}', '\ud800', '[{"role":"user"}', '[1,2]', JSON.stringify(broken()).slice(0, -7)];
  for (const text of odd) {
    for (const f of [undefined, 'anthropic', 'openai-chat', 'gemini', 'ai-sdk']) {
      for (const input of [text, new TextEncoder().encode(text), new Uint8Array([0xff, 0xfe, ...new TextEncoder().encode(text)])]) {
        try {
          const r = toolguard.fix(input, { ...(f && { format: f }), send: true });
          assert.equal(r.error, undefined);
        } catch (e) {
          assert.ok(e instanceof ToolguardError && ['not-transcript', 'input', 'check-only', 'proof'].includes(e.code), `${JSON.stringify(text)}: ${e.stack}`);
        }
      }
    }
  }
  const zip = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 0]);
  assert.throws(() => toolguard.check(zip), code('input', '<input>: zstd: this build of toolguard cannot unpack it'));
});

test('load takes a module, bytes, an answer and a URL', async () => {
  const url = import.meta.resolve('@toolguard/core/toolguard.wasm');
  const bytes = await readFile(new URL(url));
  const module = await WebAssembly.compile(bytes);
  for (const wasm of [module, new Response(bytes), new URL(url), Promise.resolve(module)]) {
    assert.equal((await load({ wasm })).version, toolguard.version);
  }
  await assert.rejects(load({ wasm: new URL('file:///nowhere/toolguard.wasm') }), { code: 'ENOENT' });
});

test('memory stays small', () => {
  const h = [say('a')];
  for (let i = 0; i < 660; i++) h.push(call('toolu_' + i), ...(i % 7 === 3 ? [say('go on')] : [result('toolu_' + i, 'line '.repeat(280))]));
  h.push({ role: 'assistant', content: 'end' });
  const text = JSON.stringify({ model: 'm', max_tokens: 1, messages: h });
  for (let i = 0; i < 5; i++) toolguard.fix(text, { format, request: true, send: true });
  assert.ok(text.length > 900_000 && toolguard.memory <= 32 << 20, `${toolguard.memory} bytes after ${text.length}`);
});
