// toolguardFetch in the SDKs of OpenAI, Anthropic and Google, of today and of one major version before.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '@toolguard/core';
import { formatOf, toolguardFetch } from '@toolguard/core/fetch';
import { histories, toAnthropic, toChat, toGemini, toResponses } from './histories.mjs';
import { each, upstream } from './upstream.mjs';

const base = await upstream();
const toolguard = await load();
const sdk = async (name) => {
  const m = await import(name);
  return m.default?.default ?? m.default ?? m;
};
const plain = globalThis.fetch;
const openai = (name, call) => async (fetch) => {
  const OpenAI = await sdk(name);
  const c = new OpenAI({ apiKey: 'none', baseURL: `${base}/${call}/v1`, maxRetries: 0, fetch });
  return call === 'openai-chat' ? (messages) => c.chat.completions.create({ model: 'gpt-5.1', messages }) : (input) => c.responses.create({ model: 'gpt-5.1', input, store: false });
};
const anthropic = (name) => async (fetch) => {
  const Anthropic = await sdk(name);
  const c = new Anthropic({ apiKey: 'none', baseURL: `${base}/anthropic`, maxRetries: 0, fetch });
  return (messages) => c.messages.create({ model: 'claude-haiku-4-5', max_tokens: 64, messages });
};
// This SDK takes no function: it calls the global one.
const google = (name) => async (fetch) => {
  const { GoogleGenAI } = await import(name);
  globalThis.fetch = fetch ?? plain;
  const c = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `${base}/gemini` } });
  return (contents) => c.models.generateContent({ model: 'gemini-2.5-pro', contents });
};

for (const [name, make, to] of [
  ['openai, Chat Completions', openai('openai', 'openai-chat'), toChat],
  ['openai before, Chat Completions', openai('openai-before', 'openai-chat'), toChat],
  ['openai, Responses', openai('openai', 'openai-responses'), toResponses],
  ['openai before, Responses', openai('openai-before', 'openai-responses'), toResponses],
  ['@anthropic-ai/sdk', anthropic('@anthropic-ai/sdk'), toAnthropic],
  ['@anthropic-ai/sdk before', anthropic('anthropic-before'), toAnthropic],
  ['@google/genai', google('@google/genai'), toGemini],
  ['@google/genai before', google('genai-before'), toGemini],
]) {
  test(`${name}: refused without, accepted with`, async (t) => {
    t.after(() => (globalThis.fetch = plain));
    const errors = [];
    const bare = await make(undefined);
    const all = histories(name.includes('before') ? 125 : 500).map(({ name, history }) => ({ name, body: to(history) }));
    const before = JSON.stringify(all);
    const refused = await each(all, ({ body }) => bare(body));
    const wrong = all.filter((_, i) => refused[i].error);
    // Responses takes a message before an output: a fifth of all.
    assert.ok(wrong.length >= all.length * 0.8, `${wrong.length} of ${all.length} refused`);
    for (const { error } of refused) if (error) assert.equal(error.status, 400, String(error));
    const mended = await make(toolguardFetch(toolguard, { fetch: plain, onError: (e) => errors.push(e) }));
    const accepted = await each(all, ({ body }) => mended(body));
    const left = all.flatMap(({ name, body }, i) => (accepted[i].error ? [`${name}: ${accepted[i].error.message}: ${JSON.stringify(body)}`] : []));
    assert.deepEqual(left.slice(0, 3), []);
    assert.deepEqual(errors, []);
    assert.equal(JSON.stringify(all), before, 'the histories of the caller must not change');
    t.diagnostic(`${wrong.length} of ${all.length} refused without, ${all.length} accepted with`);
  });
}

test('only requests with a history are read', async () => {
  const seen = [];
  const f = toolguardFetch(toolguard, { fetch: async (input, init) => (seen.push([input, init]), new Response()), onError: (e) => seen.push(e.code) });
  const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: toAnthropic([{ role: 'user', text: 'a' }, { calls: ['toolu_1'] }, { role: 'user', text: 'b' }]) });
  const url = 'https://api.anthropic.com/v1/messages';
  for (const [input, init] of [
    ['https://api.anthropic.com/v1/files', { method: 'POST', body }],
    [url, { method: 'GET' }],
    [url, { method: 'POST', body: new ReadableStream(), duplex: 'half' }],
    [url, { method: 'POST', body, headers: { 'Content-Encoding': 'gzip' } }],
    [url, { method: 'POST', body, headers: { authorization: 'AWS4-HMAC-SHA256 x' } }],
    [url + '?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00', { method: 'POST', body }],
    [url, { method: 'POST', body, headers: { Signature: 'sig=:aa:', 'Signature-Input': 'sig=("content-digest")' } }],
    [url, { method: 'POST', body: new FormData() }],
    [url, { method: 'POST', body: '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}]}' }],
  ]) {
    seen.length = 0;
    await f(input, init);
    assert.deepEqual(seen, [[input, init]]);
    assert.equal(seen[0][1], init, 'an untouched request is the same object');
  }
  seen.length = 0;
  await f(url, { method: 'POST', body: 'no JSON' });
  assert.deepEqual(seen.map((s) => s[0] === url || s), ['not-transcript', true]);
  for (const [input, init] of [
    [url, { method: 'post', body, headers: ['Content-Length', 'Content-MD5', 'Digest', 'Content-Digest', 'Repr-Digest'].map((name) => [name, '9']) }],
    [url, { method: 'POST', body: new Blob([body]) }],
    [url, { method: 'POST', body: new DataView(new TextEncoder().encode(`  ${body}`).buffer, 2) }],
    [new URL(url + '?beta=true'), { method: 'POST', body: new TextEncoder().encode(body) }],
    [new Request(url, { method: 'POST', body, headers: { 'x-api-key': 'k' } }), undefined],
  ]) {
    seen.length = 0;
    await f(input, init);
    const [[, sent]] = seen;
    assert.equal(typeof sent.body, typeof (init?.body ?? new Uint8Array()));
    const text = await new Response(sent.body).text();
    assert.match(text, /^\{"model".*No result was recorded/);
    assert.deepEqual([...new Headers(sent.headers).values()].filter((v) => v === '9'), []);
    if (input instanceof Request) assert.equal(new Headers(sent.headers).get('x-api-key'), 'k');
  }
  await assert.rejects(toolguardFetch(toolguard, { provider: 'x' })(url, { method: 'POST', body }), { code: 'option' });
  assert.throws(() => toolguardFetch(load()), { code: 'option', message: 'expected an engine as the first argument: await load()' });
});

test('a repaired request has the type and the bytes of the original', async () => {
  const sent = [];
  const f = toolguardFetch(toolguard, { fetch: async (input, init) => (sent.push(new Request(input, init)), new Response()) });
  const url = 'https://api.anthropic.com/v1/messages';
  const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: toAnthropic([{ role: 'user', text: 'a' }, { calls: ['toolu_1'] }, { role: 'user', text: 'b' }]) });
  const latin = Uint8Array.from('\xef\xbb\xbf' + body.replace('"a"', '"\xff"'), (c) => c.charCodeAt(0));
  for (const [init, type] of [[{ body }, 'text/plain;charset=UTF-8'], [{ body: new Blob([body], { type: 'application/json' }) }, 'application/json'], [{ body: new TextEncoder().encode(body) }, null]]) {
    for (const args of [[url, { method: 'POST', ...init }], [new Request(url, { method: 'POST', ...init })]]) {
      sent.length = 0;
      await f(...args);
      assert.equal(sent[0].headers.get('content-type'), type);
      assert.match(await sent[0].text(), /No result was recorded/);
    }
  }
  sent.length = 0;
  await f(new Request(url, { method: 'POST', body: latin }));
  const out = new Uint8Array(await sent[0].arrayBuffer());
  assert.ok(out.length > latin.length);
  assert.deepEqual(out.slice(0, 70), latin.slice(0, 70));
});

test('an aborted request ends, also while its body is read', async () => {
  const url = 'https://api.anthropic.com/v1/messages';
  const f = toolguardFetch(toolguard, { fetch: plain });
  const endless = () => new ReadableStream({ pull: () => new Promise(() => {}) });
  const why = new Error('enough');
  for (const when of ['before', 'after']) {
    const stop = new AbortController();
    const request = new Request(url, { method: 'POST', body: endless(), duplex: 'half', signal: stop.signal });
    if (when === 'before') stop.abort(why);
    const answer = f(request);
    stop.abort(why);
    await assert.rejects(answer, why);
  }
});

test('a listener that throws does not undo the repair', async () => {
  const told = [];
  const sent = [];
  const options = { onRepair: () => { throw new Error('mine'); }, onError: (e) => told.push(e.message) };
  const messages = toAnthropic([{ role: 'user', text: 'a' }, { calls: ['toolu_1'] }, { role: 'user', text: 'b' }]);
  await toolguardFetch(toolguard, { ...options, fetch: async (_, init) => (sent.push(init.body), new Response()) })('https://api.anthropic.com/v1/messages', { method: 'POST', body: JSON.stringify({ model: 'm', max_tokens: 1, messages }) });
  assert.match(sent[0], /No result was recorded/);
  assert.deepEqual(told, ['mine']);
});

test('the endpoints are those of the proxy', () => {
  for (const [path, format] of [
    ['/v1/messages', 'anthropic'], ['//v1//messages/', 'anthropic'], ['/a/../v1/./messages', 'anthropic'], ['/v1/messages/batches', undefined],
    ['/v1/chat/completions', 'openai-chat'], ['/openai/deployments/x/chat/completions?api-version=1', 'openai-chat'], ['/v1/responses', 'openai-responses'],
    ['/v1/responses/resp_1', undefined], ['/v1beta/models/gemini-x:generateContent', 'gemini'], ['/v1beta/models/a%2Fb:generateContent', 'gemini'],
    ['/model/anthropic.claude/converse', 'bedrock'], ['/model/eu.anthropic.claude-x/invoke', 'anthropic'], ['/model/meta.llama/invoke', undefined], ['/', undefined],
  ]) {
    assert.equal(formatOf('https://host.example' + path), format, path);
  }
});
