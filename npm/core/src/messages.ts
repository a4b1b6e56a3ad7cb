// Lists of messages as JSON and back.

import { ToolguardError } from './error.js';

/** What to do with values that JSON cannot hold: an error, or keep them as they are. */
export type Opaque = 'error' | 'keep';

/** The values that stand in JSON as texts, each of which begins with the mark. */
export interface Kept {
  mark: string;
  values: Map<string, unknown>;
}

// Where repairs read the fields of objects: messages, their lists, and the elements of these. A text in the
// place of an object would hide the calls and results in it.
const structural = /^messages\[\d+\](\.data)?(\.(content|parts|tool_calls)(\[\d+\])?)?$/;

/** Writes messages as JSON. */
export function pack(messages: readonly unknown[], opaque: Opaque): { json: string; kept: Kept } {
  const values = new Map<string, unknown>();
  const mark = opaque === 'keep' ? `urn:uuid:${crypto.randomUUID()}:` : '';
  const above = new Set<object>();

  const opaqueValue = (value: unknown, path: string, what: string): unknown => {
    if (!mark || structural.test(path)) throw new ToolguardError('lossy', `${path}: JSON cannot hold ${what}`);
    const token = mark + values.size;
    values.set(token, value);
    return token;
  };

  // It returns the value itself if JSON holds all of it.
  const plain = (value: unknown, path: string): unknown => {
    switch (typeof value) {
      case 'number':
        if (!Number.isFinite(value)) throw new ToolguardError('lossy', `${path}: JSON cannot hold ${value}`);
        return value;
      case 'bigint':
      case 'function':
      case 'symbol':
        return opaqueValue(value, path, `a ${typeof value}`);
      case 'undefined':
        return opaqueValue(value, path, 'undefined in a list');
      case 'object':
        break;
      default:
        return value;
    }
    if (value === null) return value;
    const proto: unknown = Object.getPrototypeOf(value);
    const list = Array.isArray(value);
    if (!list && proto !== Object.prototype && proto !== null && !sameRealm(proto)) {
      return opaqueValue(value, path, `a ${(value as object).constructor?.name ?? 'value with a prototype'}`);
    }
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return opaqueValue(value, path, 'a value with toJSON');
    if (above.has(value)) throw new ToolguardError('lossy', `${path}: JSON cannot hold a cycle`);
    if (above.size > 1000) throw new ToolguardError('lossy', `${path}: nested more than 1000 levels deep`);
    above.add(value);
    let copy: Record<string, unknown> | undefined;
    const put = (key: string, at: string, old: unknown) => {
      const now = plain(old, at);
      if (now !== old) {
        copy ??= (list ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
        copy[key] = now;
      }
    };
    if (list) {
      for (let i = 0; i < value.length; i++) put(String(i), `${path}[${i}]`, value[i]);
    } else {
      for (const [key, old] of Object.entries(value)) {
        if (old !== undefined) put(key, `${path}.${key}`, old); // as if it were not there
      }
    }
    above.delete(value);
    return copy ?? value;
  };

  // Array.from also visits the holes of a sparse list.
  const parts = Array.from(messages, (m, i) => JSON.stringify(plain(m, `messages[${i}]`)));
  return { json: `[${parts.join(',')}]`, kept: { mark, values } };
}

/** Reports whether a prototype is that of plain objects, perhaps of another realm. */
function sameRealm(proto: unknown): boolean {
  return typeof proto === 'object' && proto !== null && Object.getPrototypeOf(proto) === null && Object.hasOwn(proto, 'isPrototypeOf');
}

/** Puts the values back that stood in JSON as texts. */
export function unpack(value: unknown, kept: Kept): unknown {
  if (kept.values.size === 0) return value;
  if (typeof value === 'string') {
    if (kept.values.has(value)) return kept.values.get(value);
    // A repair that keeps a result as text writes the JSON of its values.
    if (value.includes(kept.mark)) throw new ToolguardError('lossy', 'the repair would write a value that JSON cannot hold into a text');
    return value;
  }
  if (Array.isArray(value)) return value.map((v) => unpack(v, kept));
  if (typeof value === 'object' && value !== null) {
    for (const [key, v] of Object.entries(value)) (value as Record<string, unknown>)[key] = unpack(v, kept);
  }
  return value;
}
