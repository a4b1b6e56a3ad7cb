/**
 * Repairs requests to model APIs on their way, for the SDKs of OpenAI, Anthropic and Google and for all
 * others that take or use `fetch`.
 *
 * @module
 */

import { endpoints } from './endpoints.js';
import type { RequestFormat, Toolguard } from './index.js';
import { failed, sending, type SendingOptions } from './sending.js';

export type { SendingOptions } from './sending.js';

/** Options of `toolguardFetch`. */
export interface FetchOptions extends SendingOptions {
  /** The fetch that is called, the global one by default. */
  fetch?: typeof globalThis.fetch;
}

/** Returns a fetch that repairs the histories in requests to model APIs. All else passes untouched. */
export function toolguardFetch(toolguard: Toolguard, options: FetchOptions = {}): typeof globalThis.fetch {
  const { fetch: inner = globalThis.fetch, ...rest } = options;
  const fix = sending(rest);
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const url = request ? request.url : String(input);
    const method = init?.method ?? request?.method ?? 'GET';
    const format = method.toUpperCase() === 'POST' ? formatOf(url) : undefined;
    if (!format) return inner(input, init);
    const headers = new Headers(init?.headers ?? request?.headers);
    // A packed body is not read, and a signature of Amazon covers the body.
    if (headers.has('content-encoding') || headers.get('authorization')?.startsWith('AWS4-')) return inner(input, init);
    const body = init?.body ?? (request?.body ? await request.clone().text() : undefined);
    const text = typeof body === 'string' ? body : body instanceof Uint8Array ? body : body instanceof ArrayBuffer ? new Uint8Array(body) : undefined;
    if (text === undefined) return inner(input, init);
    let output: string | Uint8Array;
    try {
      const done = toolguard.fix(text, { ...fix, format, request: true, address: url });
      if (done.error) throw done.error;
      if (!done.changed) return inner(input, init);
      options.onRepair?.(done);
      output = done.output;
    } catch (e) {
      failed(e, options);
      return inner(input, init);
    }
    for (const name of ['content-length', 'content-md5', 'digest']) headers.delete(name);
    return inner(input, { ...init, headers, body: output as BodyInit });
  };
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
