/**
 * Repairs requests to model APIs on their way, for the SDKs of OpenAI, Anthropic and Google and for all
 * others that take or use `fetch`.
 *
 * @module
 */

import { endpoints } from './endpoints.js';
import type { RequestFormat, Toolguard } from './index.js';
import { failed, ready, repaired, sending, type SendingOptions } from './sending.js';

export type { SendingOptions } from './sending.js';

/** Options of `toolguardFetch`. */
export interface FetchOptions extends SendingOptions {
  /** The fetch that is called, the global one by default. */
  fetch?: typeof globalThis.fetch;
}

/** Returns a fetch that repairs the histories in requests to model APIs. All else passes untouched. */
export function toolguardFetch(toolguard: Toolguard, options: FetchOptions = {}): typeof globalThis.fetch {
  ready(toolguard);
  const { fetch: inner = globalThis.fetch, ...rest } = options;
  const fix = sending(rest);
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const url = request ? request.url : String(input);
    const method = init?.method ?? request?.method ?? 'GET';
    const format = method.toUpperCase() === 'POST' ? formatOf(url) : undefined;
    if (!format) return inner(input, init);
    const headers = new Headers(init?.headers ?? request?.headers);
    // A packed body is not read, and a signature may cover the body.
    if (headers.has('content-encoding') || signed(url, headers)) return inner(input, init);
    const body = init?.body ?? (request?.body ? await read(request, init?.signal ?? request.signal) : undefined);
    const bytes = await bytesOf(body);
    if (bytes === undefined) return inner(input, init);
    let done;
    try {
      done = toolguard.fix(bytes, { ...fix, format, request: true, address: url });
      if (done.error) throw done.error;
    } catch (e) {
      failed(e, options);
      return inner(input, init);
    }
    if (!done.changed) return inner(input, init);
    repaired(done, options);
    for (const name of ['content-length', 'content-md5', 'digest', 'content-digest', 'repr-digest']) headers.delete(name);
    // The type that the original body would have brought along.
    const type = typeof body === 'string' ? 'text/plain;charset=UTF-8' : body instanceof Blob ? body.type : '';
    if (type && !headers.has('content-type')) headers.set('content-type', type);
    return inner(input, { ...init, headers, body: typeof body === 'string' ? decoder.decode(done.output) : done.output as BodyInit });
  };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Reports whether a request is signed: with a signature of AWS in a header or in the query, or by RFC 9421. */
function signed(url: string, headers: Headers): boolean {
  return headers.get('authorization')?.startsWith('AWS4-') || /[?&]x-amz-signature=/i.test(url)
    || headers.has('signature') && headers.has('signature-input');
}

/** Reads the body of a request, whose reader would otherwise wait although the request was aborted. */
async function read(request: Request, signal: AbortSignal): Promise<ArrayBuffer | undefined> {
  if (signal.aborted) return undefined;
  const over = new AbortController(); // a signal can live longer than its requests
  const aborted = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { signal: over.signal }));
  return Promise.race([request.clone().arrayBuffer(), aborted]).finally(() => over.abort());
}

/** Returns the bytes of a body, unless it is a stream or a form. */
async function bytesOf(body: unknown): Promise<Uint8Array | undefined> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Blob) return new Uint8Array(await body.arrayBuffer());
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return body instanceof ArrayBuffer ? new Uint8Array(body) : undefined;
}

/** Returns the format of the requests to a URL, if they have a history. */
export function formatOf(url: string): RequestFormat | undefined {
  let path: string;
  try {
    path = new URL(url, 'http://localhost').pathname;
  } catch {
    return undefined;
  }
  const names: string[] = [];
  for (const segment of path.split('/')) {
    let name = segment;
    try {
      name = decodeURIComponent(segment);
    } catch {
      // It is taken as it is.
    }
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name.replaceAll('/', '\0'));
  }
  for (const [pattern, format] of endpoints) {
    const wanted = pattern.split('/');
    if (wanted.length > names.length) continue;
    const last = names.slice(-wanted.length);
    if (wanted.every((w, i) => matches(w, last[i]!))) return format;
  }
  return undefined;
}

/** Reports whether a name is like a pattern, in which * stands for any text. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return pattern === name;
  const first = parts.shift()!;
  const last = parts.pop()!;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
