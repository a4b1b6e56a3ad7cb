// Makes requests with the SDKs of the model APIs, as the tests beside it say.
//
// It reads one job per line from standard input, and writes what happens as JSON lines to
// standard output: {"id", "bytes"} when a part of an answer has arrived, and {"id", "done": true,
// ...} at the end of a job. A job is {"id", "client", "call", "base", "body", "pack"}.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import * as zlib from 'node:zlib';

// The packages are in the directory that is named, not beside this file.
const require = createRequire(process.argv[2] + '/');
const load = async (name) => {
  const module = await import(pathToFileURL(require.resolve(name)));
  return module.default?.default ?? module.default ?? module;
};
const OpenAI = await load('openai');
const Anthropic = await load('@anthropic-ai/sdk');
const { GoogleGenAI } = await load('@google/genai');

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

// Clients that pack their requests do so below the SDK.
const packers = {
  gzip: (body) => zlib.gzipSync(body),
  zstd: (body) => zlib.zstdCompressSync(body),
};

// The job that runs, with what its requests got. All SDKs use the global fetch.
let job;
const plain = globalThis.fetch;
globalThis.fetch = async (url, init = {}) => {
  if (!String(url?.url ?? url).startsWith('http:')) return plain(url, init); // the SDK of OpenAI tries what fetch can do
  const mine = job;
  if (mine.pack) {
    const headers = new Headers(init.headers);
    headers.set('content-encoding', mine.pack);
    headers.delete('content-length');
    init = { ...init, headers, body: packers[mine.pack](Buffer.from(init.body)) };
  }
  const answer = await plain(url, init);
  mine.requests++;
  mine.status = answer.status;
  mine.headers = Object.fromEntries(answer.headers);
  const watch = new TransformStream({
    transform(part, out) {
      mine.raw.push(Buffer.from(part));
      mine.bytes += part.length;
      say({ id: mine.id, bytes: mine.bytes });
      out.enqueue(part);
    },
  });
  return new Response(answer.body?.pipeThrough(watch) ?? null, { status: answer.status, headers: answer.headers });
};

// all returns the events of a stream.
const all = async (stream) => {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
};

const file = (name) => new File(['{"custom_id":"1"}\n'], name);

// What each client can do with a history, and some requests without one. Every function returns the
// events, or the answer.
const clients = {
  'openai-chat': {
    make: (base) => new OpenAI({ apiKey: 'none', baseURL: base + '/v1', maxRetries: 0 }),
    create: (c, body) => c.chat.completions.create(body),
    'create, streamed': (c, body) => all(c.chat.completions.create({ ...body, stream: true })),
    stream: (c, body) => all(c.chat.completions.stream(body)),
    'completions, streamed': (c) => all(c.completions.create({ model: 'm', prompt: 'w1', stream: true })),
    embeddings: (c) => c.embeddings.create({ model: 'm', input: 'w1', encoding_format: 'float' }),
    models: (c) => c.models.list().then((page) => page.data),
    upload: (c) => c.files.create({ file: file('b.jsonl'), purpose: 'batch' }),
    batch: (c) => c.batches.create({ input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }),
  },
  'openai-responses': {
    make: (base) => new OpenAI({ apiKey: 'none', baseURL: base + '/v1', maxRetries: 0 }),
    create: (c, body) => c.responses.create(body),
    'create, streamed': (c, body) => all(c.responses.create({ ...body, stream: true })),
    stream: (c, body) => all(c.responses.stream(body)),
    compact: (c, { model, input }) => c.responses.compact({ model, input }),
    countTokens: (c, { model, input }) => c.responses.inputTokens.count({ model, input }),
  },
  anthropic: {
    make: (base) => new Anthropic({ apiKey: 'none', baseURL: base, maxRetries: 0 }),
    create: (c, body) => c.messages.create(body),
    'create, streamed': (c, body) => all(c.messages.create({ ...body, stream: true })),
    stream: (c, body) => all(c.messages.stream(body)),
    'beta create': (c, body) => c.beta.messages.create({ ...body, betas: ['none-2026-01-01'] }),
    batch: (c, params) => c.messages.batches.create({ requests: [{ custom_id: 'w1', params }] }),
    models: (c) => c.models.list().then((page) => page.data),
    countTokens: (c, { model, messages }) => c.messages.countTokens({ model, messages }),
  },
  gemini: {
    make: (base) => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base } }),
    generateContent: (c, { contents }) => c.models.generateContent({ model: 'gemini-x', contents }),
    generateContentStream: (c, { contents }) => all(c.models.generateContentStream({ model: 'gemini-x', contents })),
    countTokens: (c, { contents }) => c.models.countTokens({ model: 'gemini-x', contents }),
    embedContent: (c) => c.models.embedContent({ model: 'gemini-x', contents: 'w1' }),
    models: (c) => c.models.list().then((page) => page.page),
    // The last content is the message, and what is before it the history of the chat.
    chat: (c, { contents }) =>
      c.chats.create({ model: 'gemini-x', history: contents.slice(0, -1) }).sendMessage({ message: contents.at(-1).parts }),
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  job = { ...JSON.parse(line), requests: 0, bytes: 0, raw: [] };
  const done = { id: job.id, done: true };
  try {
    const client = clients[job.client];
    done.value = await client[job.call](client.make(job.base), job.body);
  } catch (e) {
    done.error = { name: e.constructor.name, message: String(e.message), status: e.status ?? 0 };
  }
  say({ ...done, requests: job.requests, status: job.status, headers: job.headers, raw: Buffer.concat(job.raw).toString('base64') });
}
