// Starts the program that stands for the model APIs, see npm/test/upstream.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Returns the address of a new upstream. It ends with this process. */
export async function upstream() {
  const child = spawn(process.env.TOOLGUARD_UPSTREAM, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.unref();
  child.stdin.unref();
  const [line] = await once(child.stdout, 'data');
  child.stdout.unref();
  return String(line).trim();
}

/** Runs a function for each element, a few at a time, and returns what the calls return or throw. */
export async function each(list, f) {
  const out = new Array(list.length);
  let next = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let i = next++; i < list.length; i = next++) {
      out[i] = await f(list[i], i).then((value) => ({ value }), (error) => ({ error }));
    }
  }));
  return out;
}
