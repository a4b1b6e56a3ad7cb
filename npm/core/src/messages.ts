// Lists of messages as JSON and back.

import { ToolguardError } from './error.js';

/** What to do with values that JSON cannot hold: an error, or keep them as they are. */
export type Opaque = 'error' | 'keep';

/** The JSON of a list of messages, and the values that stand in it as texts. */
export interface Packed {
  json: string;
  kept: Map<string, unknown>;
}

/** Writes messages as JSON. */
export function pack(messages: readonly unknown[], opaque: Opaque): Packed {
  const kept = new Map<string, unknown>();
  const mark = opaque === 'keep' ? `urn:uuid:${crypto.randomUUID()}:` : '';
  const above = new Set<object>();

  const opaqueValue = (value: unknown, path: string, what: string): unknown => {
    if (!mark) throw new ToolguardError('lossy', `${path}: JSON cannot hold ${what}`);
    const token = mark + kept.size;
    kept.set(token, value);
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

  const parts = messages.map((m, i) => {
    if (m === undefined) throw new ToolguardError('lossy', `messages[${i}]: JSON cannot hold undefined in a list`);
    return JSON.stringify(plain(m, `messages[${i}]`));
  });
  return { json: `[${parts.join(',')}]`, kept };
}

/** Reports whether a prototype is that of plain objects, perhaps of another realm. */
function sameRealm(proto: unknown): boolean {
  return typeof proto === 'object' && proto !== null && Object.getPrototypeOf(proto) === null && Object.hasOwn(proto, 'isPrototypeOf');
}

/** Puts the values back that stood in JSON as texts. */
export function unpack(value: unknown, kept: Map<string, unknown>): unknown {
  if (kept.size === 0) return value;
  if (typeof value === 'string') return kept.has(value) ? kept.get(value) : value;
  if (Array.isArray(value)) return value.map((v) => unpack(v, kept));
  if (typeof value === 'object' && value !== null) {
    for (const [key, v] of Object.entries(value)) (value as Record<string, unknown>)[key] = unpack(v, kept);
  }
  return value;
}
