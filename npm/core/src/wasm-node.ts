// Where the default module is, for Node.js, Deno and Bun.

import { readFile } from 'node:fs/promises';
import { compile as compileAny } from './wasm-web.js';
import type { Source } from './index.js';

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiles a module. */
export async function compile(source: Source | undefined): Promise<WebAssembly.Module> {
  if (source === undefined) {
    compiled ??= read(new URL('./toolguard.wasm', import.meta.url)).catch((e: unknown) => {
      compiled = undefined;
      throw e;
    });
    return compiled;
  }
  if (typeof source === 'string' && !URL.canParse(source)) return read(source);
  if ((typeof source === 'string' || source instanceof URL) && new URL(source).protocol === 'file:') return read(new URL(source));
  return compileAny(source);
}

async function read(file: string | URL): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(file) as BufferSource);
}
