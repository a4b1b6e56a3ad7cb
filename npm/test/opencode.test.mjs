// The plugin of opencode: histories in the form of opencode that an API would refuse, and opencode itself, which
// turns them into requests. The API refuses what the real ones refuse.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { load } from '@toolguard/core';
import { toolguardPlugin } from '@toolguard/core/opencode';
import { random } from './histories.mjs';
import { each, upstream } from './upstream.mjs';

const api = await upstream();
const toolguard = await load();
const models = { anthropic: 'claude-haiku-4-5', openai: 'gpt-5.1' };

/** Returns a whole history in the form of opencode, made for a provider. */
function whole(dice, providerID) {
  const out = [];
  const sessionID = 'ses_0000000000001';
  const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
  let n = 0, calls = 0;
  const next = (kind) => `${kind}_${String(++n).padStart(13, '0')}`;
  const add = (info, parts) => {
    const messageID = next('msg');
    out.push({ info: { ...info, id: messageID, sessionID }, parts: parts.map((p) => ({ ...p, id: next('prt'), sessionID, messageID })) });
    return messageID;
  };
  const ask = (text) => add({ role: 'user', time: { created: ++n }, agent: 'build', model: { providerID, modelID: models[providerID] } }, [{ type: 'text', text }]);
  const answer = (parentID, parts, finish) => add(
    { role: 'assistant', parentID, mode: 'build', agent: 'build', path: { cwd: '/', root: '/' }, cost: 0, tokens, modelID: models[providerID], providerID, time: { created: ++n, completed: ++n }, finish },
    [{ type: 'step-start' }, ...parts, { type: 'step-finish', reason: finish, tokens, cost: 0 }],
  );
  const call = () => {
    const id = `toolu_${calls++}`;
    return { type: 'tool', callID: id, tool: 'read', state: { status: 'completed', input: { id }, output: `output of ${id}`, title: id, metadata: {}, time: { start: ++n, end: ++n } } };
  };
  for (let turn = 1 + dice(4); turn > 0; turn--) {
    const asked = ask(`question ${turn}`);
    for (let step = 1 + dice(2); step > 0; step--) answer(asked, Array.from({ length: 2 + dice(2) }, call), 'tool-calls');
    if (dice(2)) answer(asked, [{ type: 'text', text: 'done' }], 'stop');
  }
  ask('go on');
  return out;
}

/** What opencode sends as it is. Each breaks some of the parts of one message with calls. */
const faults = {
  'two calls with one id': ([a, b]) => { b.callID = a.callID; },
  'all calls with one id': ([a, ...rest]) => { for (const b of rest) b.callID = a.callID; },
  'two calls with one id, of which one never ended': ([a, b]) => {
    b.callID = a.callID;
    b.state = { status: 'running', input: b.state.input, time: { start: 1 } };
  },
  'a call without an id': ([a]) => { a.callID = ''; },
  'an id that is too long': ([a]) => { a.callID = `call_${'x'.repeat(100)}`; },
};

/** Returns broken histories, each with the provider to which it is sent. */
function broken(count) {
  const dice = random(1);
  return Array.from({ length: count }, (_, i) => {
    const name = Object.keys(faults)[i % Object.keys(faults).length];
    const provider = name === 'an id that is too long' ? 'openai' : 'anthropic';
    const messages = whole(dice, provider);
    const all = messages.flatMap((m) => (m.parts.some((p) => p.type === 'tool') ? [m.parts.filter((p) => p.type === 'tool')] : []));
    faults[name](all[dice(all.length)]);
    return { name, provider, messages };
  });
}

/** Throws unless the API takes a history, which is written as opencode does: open calls have an answer. */
async function send(provider, messages) {
  const list = messages.flatMap(({ info, parts }) => {
    const text = parts.filter((p) => p.type === 'text').map((p) => p.text).join('');
    const calls = parts.filter((p) => p.type === 'tool').map((p) => ({ ...p, said: p.state.output ?? p.state.error ?? '[Tool execution was interrupted]' }));
    if (provider === 'openai') {
      return [...(text ? [{ role: info.role, content: text }] : []), ...calls.flatMap((c) => [
        { type: 'function_call', call_id: c.callID, name: c.tool, arguments: JSON.stringify(c.state.input) }, { type: 'function_call_output', call_id: c.callID, output: c.said },
      ])];
    }
    if (calls.length === 0) return [{ role: info.role, content: text }];
    return [
      { role: 'assistant', content: calls.map((c) => ({ type: 'tool_use', id: c.callID, name: c.tool, input: c.state.input })) },
      { role: 'user', content: calls.map((c) => ({ type: 'tool_result', tool_use_id: c.callID, content: c.said })) },
    ];
  });
  const model = models[provider];
  const [path, body] = provider === 'openai' ? ['/openai-responses/v1/responses', { model, input: list }] : ['/anthropic/v1/messages', { model, max_tokens: 1, messages: list }];
  const answer = await fetch(api + path, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

const hook = async (options) => (await toolguardPlugin(toolguard, options)())['experimental.chat.messages.transform'];

test('500 broken histories: refused without, accepted with', async () => {
  const all = broken(500);
  const errors = [];
  let repairs = 0;
  const transform = await hook({ onError: (e) => errors.push(e), onRepair: () => repairs++ });
  const results = await each(all, async ({ name, provider, messages }) => {
    await assert.rejects(send(provider, messages), /error/, name);
    const old = [...messages];
    const written = JSON.stringify(old);
    await transform({}, { messages });
    await send(provider, messages);
    assert.equal(JSON.stringify(old), written, 'the messages of the session must not change');
    assert.equal(messages.length, old.length);
    return messages.filter((m, i) => m !== old[i]).length;
  });
  assert.deepEqual(results.filter((r) => r.error).slice(0, 3).map((r) => r.error), []);
  assert.deepEqual(results.map((r) => r.value), all.map(() => 1), 'the other messages are the same objects');
  assert.deepEqual([errors, repairs], [[], 500]);
});

test('whole histories are not touched', async () => {
  let told = 0;
  const transform = await hook({ onError: () => told++, onRepair: () => told++ });
  const dice = random(2);
  for (let i = 0; i < 40; i++) {
    const messages = whole(dice, i % 2 ? 'openai' : 'anthropic');
    const old = [...messages];
    await transform({}, { messages });
    assert.ok(messages.length === old.length && messages.every((m, i) => m === old[i]));
  }
  assert.equal(told, 0);
});

test('options are those of the other adapters', async () => {
  const [{ messages }] = broken(1);
  const errors = [];
  const transform = await hook({ allow: 'safe', ignore: ['duplicate-call-id'], onError: (e) => errors.push(e) });
  const old = [...messages];
  await transform({}, { messages });
  assert.deepEqual(messages, old);
  assert.throws(() => toolguardPlugin(load()), { code: 'option', message: 'expected an engine as the first argument: await load()' });
  const self = [{ info: { role: 'user' }, parts: [] }];
  self[0].info.self = self;
  await transform({}, { messages: self });
  assert.deepEqual(errors.map((e) => e.code), ['lossy']);
});

// opencode itself.

const events = {
  '/anthropic': [
    { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'fine' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  '/openai-responses': [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'fine' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
  ],
};
const bodies = [];
const server = createServer(async (request, response) => {
  const body = await new Response(request).text();
  const judged = await fetch(api + request.url, { method: 'POST', body });
  const text = await judged.text();
  bodies.push({ status: judged.status, body });
  response.writeHead(judged.status, { 'content-type': judged.ok ? 'text/event-stream' : 'application/json' });
  const [, list] = Object.entries(events).find(([path]) => request.url.startsWith(`${path}/`));
  response.end(judged.ok ? list.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('') : text);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'opencode-')));
after(() => {
  server.close();
  rmSync(scratch, { recursive: true });
});

const home = join(scratch, 'home');
mkdirSync(join(home, '.config/opencode'), { recursive: true });
const provider = (npm, path, model) => ({ npm, options: { baseURL: `http://127.0.0.1:${server.address().port}/${path}/v1`, apiKey: 'none' }, models: { [model]: { name: model, tool_call: true } } });
writeFileSync(join(home, '.config/opencode/opencode.json'), JSON.stringify({
  autoupdate: false, share: 'disabled', model: `anthropic/${models.anthropic}`, small_model: `anthropic/${models.anthropic}`,
  provider: { anthropic: provider('@ai-sdk/anthropic', 'anthropic', models.anthropic), openai: provider('@ai-sdk/openai', 'openai-responses', models.openai) },
}));
// What the package opencode-ai runs, on processors of any age.
const program = new URL('../node_modules/opencode-linux-x64-baseline/bin/opencode', import.meta.url).pathname;
const env = { PATH: process.env.PATH, HOME: home, OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' };

/** Makes a project with files of plugins, and returns its directory. */
function project(name, plugins) {
  const dir = join(scratch, name);
  mkdirSync(join(dir, '.opencode/plugin'), { recursive: true });
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(new URL('node_modules/@toolguard', import.meta.url).pathname, join(dir, 'node_modules/@toolguard'));
  for (const [file, text] of Object.entries(plugins)) writeFileSync(join(dir, '.opencode/plugin', file), text);
  return dir;
}

// Puts a broken history in the place of the one that opencode read.
const inject = `
import { readFileSync } from 'node:fs';
const all = JSON.parse(readFileSync(${JSON.stringify(join(scratch, 'histories.json'))}));
export const aInject = async () => ({
  'experimental.chat.messages.transform': async (_, { messages }) => {
    const last = messages.findLast((m) => m.info.role === 'user');
    messages.splice(0, messages.length, ...all[last.parts.find((p) => p.type === 'text').text].messages.slice(0, -1), last);
  },
});
`;
const repairing = `
import { load } from '@toolguard/core';
import { toolguardPlugin } from '@toolguard/core/opencode';
export const bToolguard = toolguardPlugin(await load());
`;

/** Lets opencode send histories, and returns the errors. */
async function sendAll(dir, histories) {
  writeFileSync(join(scratch, 'histories.json'), JSON.stringify(histories));
  const child = spawn(program, ['serve', '--port', '0'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await new Promise((resolve, reject) => {
      let said = '';
      child.on('exit', () => reject(new Error(said)));
      child.stdout.on('data', (data) => {
        const [at] = /http:\/\/\S+/.exec(said += data) ?? [];
        if (at) resolve(at);
      });
    });
    const post = async (path, body) => (await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
    const { id } = await post('/session', { title: 'one' });
    const errors = [];
    for (const [i, { provider }] of histories.entries()) {
      const said = await post(`/session/${id}/message`, { model: { providerID: provider, modelID: models[provider] }, parts: [{ type: 'text', text: String(i) }] });
      assert.ok(said.info, JSON.stringify(said));
      errors.push(said.info.error?.data.message ?? '');
    }
    return errors;
  } finally {
    child.kill();
  }
}

test('opencode sends them as they are, and with the plugin the API accepts all', { timeout: 300_000 }, async (t) => {
  const open = { provider: 'anthropic', messages: whole(random(3), 'anthropic') };
  open.messages.flatMap((m) => m.parts).find((p) => p.type === 'tool').state = { status: 'running', input: {}, time: { start: 1 } };
  const all = [...broken(5), open];
  const without = await sendAll(project('without', { 'a.js': inject }), all);
  assert.deepEqual(without.map((e) => e === ''), [...Array(5).fill(false), true], 'all are refused, but opencode answers open calls itself');
  assert.match(bodies.at(-1).body, /\[Tool execution was interrupted\]/);
  t.diagnostic([...new Set(without)].join('; '));
  bodies.length = 0;
  assert.deepEqual(await sendAll(project('with', { 'a.js': inject + repairing }), all), all.map(() => ''));
  assert.deepEqual(bodies.map((b) => b.status), all.map(() => 200));
});

test('opencode run goes on with a broken session if the plugin of the page is there', { timeout: 300_000 }, async () => {
  const page = readFileSync(join(process.env.TOOLGUARD_ROOT, 'docs', "javascript.md"), 'utf8');
  const [, plugin] = /`\.opencode\/plugin\/toolguard\.js`:\n\n```ts\n(.*?)```/s.exec(page);
  const [{ messages }] = broken(1);
  const bare = project('bare', {});
  const run = async (...args) => {
    const child = spawn(program, args, { cwd: bare, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, error, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { status, said: said + error };
  };
  const session = messages[0].info.sessionID;
  writeFileSync(join(scratch, 'session.json'), JSON.stringify({
    info: { id: session, slug: 's', projectID: 'global', directory: bare, title: 's', version: '1.18.33', time: { created: 1, updated: 1 } }, messages,
  }));
  const imported = await run('import', join(scratch, 'session.json'));
  assert.equal(imported.status, 0, imported.said);
  const goOn = async () => {
    bodies.length = 0;
    return (await run('run', '--session', session, 'and now?')).said;
  };
  assert.match(await goOn(), /`tool_use` ids must be unique/);
  assert.deepEqual(bodies.map((b) => b.status), [400]);
  writeFileSync(join(bare, '.opencode/plugin/toolguard.js'), plugin);
  assert.match(await goOn(), /^fine$/m);
  assert.deepEqual(bodies.map((b) => b.status), [200]);
  assert.match(bodies[0].body, /toolu_\d+-2/);
});
