// The adapters in the real libraries: what the libraries or the APIs refuse without them is accepted
// with them, and whole histories are not touched.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from '@toolguard/core';
import * as aiSDK from '@toolguard/core/ai-sdk';
import * as langchain from '@toolguard/core/langchain';
import * as openaiAgents from '@toolguard/core/openai-agents';
import { histories, toAgents, toLangChain, toModelMessages, wholeHistories } from './histories.mjs';
import { each, upstream } from './upstream.mjs';

const base = await upstream();
const toolguard = await load();
const none = { apiKey: 'none' };

/** The AI SDK, and the model of Anthropic in it. */
const ai = async (before) => {
  const sdk = await import(before ? 'ai-before' : 'ai');
  const { createAnthropic } = await import(before ? 'ai-anthropic-before' : '@ai-sdk/anthropic');
  return { ...sdk, model: createAnthropic({ ...none, baseURL: `${base}/anthropic/v1` })('claude-haiku-4-5') };
};

/** How each adapter is used: a function of the options of the adapter, undefined for none, that returns one of messages. */
const uses = {
  'ai-sdk, repairMessages': async (o) => {
    const { generateText, model } = await ai(false);
    return (messages) => generateText({ model, maxRetries: 0, messages: o ? aiSDK.repairMessages(toolguard, messages, o) : messages });
  },
  'ai-sdk before, repairMessages': async (o) => {
    const { generateText, model } = await ai(true);
    return (messages) => generateText({ model, maxRetries: 0, messages: o ? aiSDK.repairMessages(toolguard, messages, o) : messages });
  },
  'ai-sdk, prepareStep': async (o) => {
    const { generateText, model } = await ai(false);
    return (messages) => generateText({ model, maxRetries: 0, messages, ...(o && { prepareStep: aiSDK.prepareStep(toolguard, o) }) });
  },
  'ai-sdk before, prepareStep': async (o) => {
    const { generateText, model } = await ai(true);
    return (messages) => generateText({ model, maxRetries: 0, messages, ...(o && { prepareStep: aiSDK.prepareStep(toolguard, o) }) });
  },
  langchain: async (o) => {
    const { createAgent, createMiddleware } = await import('langchain');
    const { ChatAnthropic } = await import('@langchain/anthropic');
    const model = new ChatAnthropic({ ...none, model: 'claude-haiku-4-5', anthropicApiUrl: `${base}/anthropic`, maxRetries: 0 });
    const middleware = o ? [createMiddleware({ name: 'toolguard', wrapModelCall: langchain.wrapModelCall(toolguard, o) })] : [];
    const agent = createAgent({ model, tools: [], middleware });
    return (messages) => agent.invoke({ messages });
  },
  'openai-agents': async (o) => {
    const { Agent, OpenAIResponsesModel, Runner } = await import('@openai/agents');
    const { default: OpenAI } = await import('openai');
    const client = new OpenAI({ ...none, baseURL: `${base}/openai-responses/v1`, maxRetries: 0 });
    const agent = new Agent({ name: 'a', model: new OpenAIResponsesModel(client, 'gpt-5.1') });
    const runner = new Runner({ tracingDisabled: true, ...(o && { callModelInputFilter: openaiAgents.callModelInputFilter(toolguard, o) }) });
    return (input) => runner.run(agent, input);
  },
};
const { HumanMessage, AIMessage, ToolMessage } = await import('@langchain/core/messages');
const forms = {
  'ai-sdk': toModelMessages, 'openai-agents': toAgents,
  langchain: (h) => toLangChain(h, { HumanMessage, AIMessage, ToolMessage }),
};
const formOf = (name) => forms[Object.keys(forms).find((f) => name.startsWith(f))];

for (const [name, use] of Object.entries(uses)) {
  const form = formOf(name);

  test(`${name}: refused without, accepted with`, async (t) => {
    const all = histories(name.includes('before') ? 125 : 500).map(({ name, history }) => ({ name, messages: form(history) }));
    const before = said(all);
    const bare = await use();
    const refused = await each(all, ({ messages }) => bare(messages));
    const wrong = all.filter((_, i) => refused[i].error);
    // Responses takes a message before an output: a fifth of all.
    assert.ok(wrong.length >= all.length * 0.8, `${wrong.length} of ${all.length} refused`);
    const errors = [];
    let repairs = 0;
    const mended = await use({ onError: (e) => errors.push(e), onRepair: () => repairs++ });
    const accepted = await each(all, ({ messages }) => mended(messages));
    const left = all.flatMap(({ name, messages }, i) => (accepted[i].error ? [`${name}: ${accepted[i].error.message}: ${JSON.stringify(messages)}`] : []));
    assert.deepEqual(left.slice(0, 3), []);
    assert.deepEqual(errors, []);
    assert.ok(repairs >= wrong.length, `${repairs} repairs`);
    assert.equal(said(all), before, 'the histories of the caller must not change');
    t.diagnostic(`${wrong.length} of ${all.length} refused without, ${all.length} accepted with`);
  });

  test(`${name}: whole histories are not touched`, async () => {
    const all = wholeHistories(40).map(form);
    let repairs = 0;
    const got = await each(all, await use({ onRepair: () => repairs++, onError: () => repairs++ }));
    assert.deepEqual(got.filter((r) => r.error), []);
    assert.equal(repairs, 0);
  });
}

/** Histories as JSON, without the ids that LangGraph gives messages. */
function said(all) {
  return JSON.stringify(all, (key, value) => (key === 'id' && /^[0-9a-f]{8}-/.test(value) ? undefined : value));
}

test('messages that did not change are the same objects', () => {
  for (const [name, repair, form] of [
    ['ai-sdk', aiSDK.repairMessages, toModelMessages],
    ['langchain', langchain.repairMessages, forms.langchain],
    ['openai-agents', (t, input, o) => openaiAgents.callModelInputFilter(t, o)({ modelData: { input, instructions: 'x' } }).input, toAgents],
  ]) {
    const whole = form([{ role: 'user', text: 'a' }, { calls: ['toolu_1'] }, { result: 'toolu_1', text: 'r' }, { role: 'user', text: 'b' }]);
    assert.equal(repair(toolguard, whole), whole, name);
    const broken = form([{ role: 'user', text: 'a' }, { calls: ['toolu_1'] }, { role: 'user', text: 'b' }]);
    const mended = repair(toolguard, broken);
    assert.equal(mended.length, 4, name);
    assert.deepEqual([mended[0] === broken[0], mended[1] === broken[1], mended[3] === broken[2]], [true, true, true], name);
    assert.match(JSON.stringify(mended[2]), /No result was recorded/, name);
    assert.match(JSON.stringify(mended[2]), /toolu_1/, name);
  }
});

test('messages of a user interface are repaired in their own form', () => {
  const part = { type: 'tool-read', toolCallId: 'toolu_1', state: 'input-available', input: {} };
  const broken = [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'a' }] }, { id: 'a', role: 'assistant', parts: [part] }, { id: 'v', role: 'user', parts: [{ type: 'text', text: 'b' }] }];
  const mended = aiSDK.repairMessages(toolguard, broken);
  assert.equal(mended[0], broken[0]);
  assert.deepEqual(mended[1].parts[0].state, 'output-error');
  assert.equal(part.state, 'input-available');
});

for (const before of [false, true]) {
  test(`the middleware repairs ids in requests of the AI SDK${before ? ' before' : ''}`, async () => {
    const { generateText, wrapLanguageModel, model } = await ai(before);
    const messages = toModelMessages([{ role: 'user', text: 'a' }, { calls: ['call.1|x'] }, { result: 'call.1|x', text: 'r' }, { role: 'user', text: 'b' }]);
    await assert.rejects(generateText({ model, maxRetries: 0, messages }), /pattern/);
    const wrapped = wrapLanguageModel({ model, middleware: aiSDK.toolguardMiddleware(toolguard, { provider: 'anthropic' }) });
    assert.equal((await generateText({ model: wrapped, maxRetries: 0, messages })).text, 'fine');
    assert.equal(messages[1].content[0].toolCallId, 'call.1|x');
  });
}

test('an error is told, and the messages go out as they are', () => {
  const errors = [];
  const odd = [{ role: 'user', content: 'a' }];
  odd[0].self = odd; // JSON has no cycles
  for (const repair of [aiSDK.repairMessages, (t, input, o) => openaiAgents.callModelInputFilter(t, o)({ modelData: { input } }).input]) {
    assert.equal(repair(toolguard, odd, { onError: (e) => errors.push(e.code) }), odd);
  }
  assert.deepEqual(errors, ['lossy', 'lossy']);
  assert.equal(aiSDK.repairMessages(toolguard, undefined, { onError: (e) => errors.push(e.code) }), undefined);
  assert.equal(errors.pop(), 'not-transcript');
  assert.throws(() => aiSDK.repairMessages(load(), []), { code: 'option', message: 'expected an engine as the first argument: await load()' });
  let calls = 0;
  assert.throws(() => langchain.repairMessages(toolguard, [{ toDict: () => odd[0] }], { onError: () => { calls++; throw new Error('mine'); } }), /mine/);
  assert.equal(calls, 1);
  assert.throws(() => aiSDK.repairMessages(toolguard, toModelMessages([{ role: 'user', text: 'a' }]), { provider: 'x' }), { code: 'option' });
});

test('LangChain before: its messages are repaired with its own classes', () => {
  const dir = new URL('before/', import.meta.url);
  mkdirSync(new URL('node_modules/@langchain', dir), { recursive: true });
  cpSync(new URL('node_modules/@toolguard', import.meta.url), new URL('node_modules/@toolguard', dir), { recursive: true });
  symlinkSync(new URL('../node_modules/langchain-core-before', import.meta.url), new URL('node_modules/@langchain/core', dir));
  cpSync(new URL('histories.mjs', import.meta.url), new URL('histories.mjs', dir));
  writeFileSync(new URL('run.mjs', dir), `
import * as classes from '@langchain/core/messages';
import { load } from '@toolguard/core';
import { repairMessages } from '@toolguard/core/langchain';
import { histories, toLangChain } from './histories.mjs';
const toolguard = await load();
let changed = 0;
for (const { history } of histories(125)) {
  const messages = toLangChain(history, classes);
  const mended = repairMessages(toolguard, messages, { onError: (e) => { throw e; } });
  if (mended !== messages) changed++;
  if (!mended.every((m) => m instanceof classes.BaseMessage)) throw new Error('a message of another class');
  const left = toolguard.fixMessages(classes.mapChatMessagesToStoredMessages(mended), { format: 'langchain', send: true });
  if (left.changed) throw new Error('not repaired at once');
}
console.log(changed);
`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [new URL('run.mjs', dir).pathname], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, '125\n'], stderr);
});

test('Mastra drops calls without results and results without calls itself', async () => {
  const { Agent } = await import('@mastra/core/agent');
  const { model } = await ai(true);
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model, maxRetries: 0 });
  const got = await each(histories(125), ({ history }) => agent.generate(toModelMessages(history)));
  assert.deepEqual(got.filter((r) => r.error), []);
});
