// Where the default module is, for browsers and others with fetch.

import type { Source } from './index.js';

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiles a module. */
export async function compile(source: Source | undefined): Promise<WebAssembly.Module> {
  if (source === undefined) {
    compiled ??= compile(new URL('./toolguard.wasm', import.meta.url)).catch((e: unknown) => {
      compiled = undefined; // perhaps it is there next time
      throw e;
    });
    return compiled;
  }
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === 'string' || source instanceof URL) source = await fetch(source);
  if (typeof Response !== 'undefined' && source instanceof Response) {
    if (!source.ok) throw new TypeError(`${source.url}: status ${source.status}, expected the engine`);
    source = await source.arrayBuffer(); // some servers do not know the type that compileStreaming wants
  }
  return WebAssembly.compile(source as BufferSource);
}
