import { Exit, Host } from './wasi.js';
import { ToolguardError, type Code } from './error.js';

/** What the engine answers, see npm/wasm. */
export interface Answer {
  error?: { code: Code; message: string; reason?: string; stack?: string };
  before?: unknown;
  after?: unknown;
  trimmed?: unknown;
  origin?: number[];
  value?: unknown;
}

/** Counts the tokens of a text. */
export type Count = (text: string) => number;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A running engine. It is dead after a fatal error. */
export class Engine {
  private readonly host = new Host();
  private readonly exports: { _initialize(): void; call(options: number, input: number): void; memory: WebAssembly.Memory };
  private request: Uint8Array[] = [];
  private given: Uint8Array[] = [];
  private count: Count | undefined;
  private thrown: { value: unknown } | undefined;
  private busy = false;
  private dead: string | undefined;

  constructor(module: WebAssembly.Module) {
    const { exports } = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: this.host.imports,
      toolguard: {
        take: (at: number) => {
          for (const part of this.request) {
            this.host.bytes(at, part.length).set(part);
            at += part.length;
          }
        },
        give: (at: number, size: number) => void this.given.push(this.host.bytes(at, size).slice()),
        // An exception must not pass through the engine, which could not go on.
        count: (at: number, size: number) => {
          try {
            const n: unknown = this.count!(decoder.decode(this.host.bytes(at, size).slice()));
            return Number.isFinite(n) ? n as number : NaN;
          } catch (value) {
            this.thrown ??= { value };
            return NaN;
          }
        },
      },
    });
    this.exports = exports as never;
    this.host.memory = this.exports.memory;
    this.exports._initialize();
  }

  /** The size of the memory in bytes. It never shrinks. */
  get memory(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Makes a request, and returns the answer and the new text, if there is one. */
  call(options: object, input: Uint8Array, count?: Count): { answer: Answer; text: Uint8Array | undefined } {
    if (this.dead !== undefined) {
      throw new ToolguardError('dead', `the engine ended: ${this.dead}; load makes a new one`);
    }
    if (this.busy) throw new ToolguardError('option', 'option count: it must not call toolguard');
    const head = encoder.encode(written(options));
    this.request = [head, input];
    this.count = count;
    this.busy = true;
    try {
      this.exports.call(head.length, input.length);
    } catch (e) {
      // A fatal error of the runtime, or one of the host: its stack or its memory is full. Either way
      // the engine stopped in the middle of its work.
      this.dead = e instanceof Exit ? e.message : String(e);
      throw new ToolguardError('dead', `the engine ended: ${this.dead}; load makes a new one`, { cause: e });
    } finally {
      this.busy = false;
      this.request = [];
      this.count = undefined;
    }
    const [meta, text] = this.given;
    this.given = [];
    const thrown = this.thrown;
    this.thrown = undefined;
    if (thrown) throw thrown.value;
    return { answer: JSON.parse(decoder.decode(meta)) as Answer, text };
  }
}

/** Writes options as JSON, which leaves out some values and turns others into null. */
function written(options: { trim?: object }): string {
  for (const [name, value] of Object.entries({ ...options, ...options.trim }) as [string, unknown][]) {
    if (['bigint', 'function', 'symbol'].includes(typeof value)) throw new ToolguardError('option', `option ${name}: expected another type than ${typeof value}`);
    if (typeof value === 'number' && !Number.isFinite(value)) throw new ToolguardError('option', `option ${name}: expected a finite number, got ${value}`);
  }
  try {
    return JSON.stringify(options);
  } catch (e) {
    throw new ToolguardError('option', `options: ${(e as Error).message}`, { cause: e });
  }
}
