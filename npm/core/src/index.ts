/**
 * The engine of toolguard: it checks and repairs the message histories of AI agents before they are
 * sent. It needs neither files nor a network.
 *
 *     const toolguard = await load()
 *     const { messages } = toolguard.fixMessages(history, { format: 'anthropic', send: true })
 *
 * @module
 */

import { compile } from '#wasm';
import { Engine, type Answer, type Count } from './engine.js';
import { ToolguardError } from './error.js';
import { pack, unpack, type Kept, type Opaque } from './messages.js';
import type { Category, Format, Provider, RequestFormat, Rule, Strategies } from './names.js';
import type { AppliedRepair, Report, TrimReport } from './report.js';

export { ToolguardError, type Code } from './error.js';
export type * from './names.js';
export type * from './report.js';
export type { Count } from './engine.js';
export type { Opaque } from './messages.js';

/** A severity of findings. */
export type Severity = 'off' | 'info' | 'warning' | 'error';

/** What a check looks for. */
export interface CheckOptions {
  /** The format of the input. Without it, the format is detected. */
  format?: Format;
  /** Check as this provider would. Without it, the provider of the format is used. */
  provider?: Provider;
  /** The URL or the host to which a request is sent. It selects the provider unless `provider` does. */
  address?: string;
  /** The input is one request body in the format `format`. */
  request?: boolean;
  /** The history is about to be sent: a call that still waits for its result is an error. */
  send?: boolean;
  /** The tools that are declared for all calls, in the form of OpenAI, Anthropic, Gemini or MCP. */
  tools?: unknown;
  /** Run only these rules and categories. */
  select?: (Rule | Category)[];
  /** Skip these rules and categories. */
  ignore?: (Rule | Category)[];
  /** Set the severity of findings. `off` silences a rule. */
  severity?: { [R in Rule]?: Severity };
  /** Fill in the edits of each finding's repair. It takes longer. */
  edits?: boolean;
  /** The name of the input in reports. It is a part of fingerprints. */
  name?: string;
}

/** What a repair may do. */
export interface FixOptions extends Omit<CheckOptions, 'edits'> {
  /** The most that repairs may do. Safe ones lose nothing and claim nothing, and additive ones, the default, insert labelled placeholders. */
  allow?: 'safe' | 'additive' | 'unsafe';
  /** Repair the findings of these rules whatever the class is, unless that removes content. */
  allowFor?: Rule[];
  /** Choose one of the repairs that a rule offers. */
  strategies?: Strategies;
  /** The text of inserted results. In it, {tool} and {id} stand for the name of the tool and the id of the call. */
  placeholder?: string;
  /** Remove all reasoning, so that another account, model or provider accepts the history. */
  stripReasoning?: boolean;
}

/** What a trim keeps. The system prompt and the declared tools always stay. */
export interface TrimTo {
  maxTokens?: number;
  maxBytes?: number;
  /** Counts the tokens of a text, which is a part of the JSON. Without it, they are estimated. */
  count?: Count;
  /** Keep at least so many messages at the end. */
  keepLast?: number;
  /** Keep at least so many messages that a human typed, and all that follows them. */
  keepLastUser?: number;
  /** The index of the message that is to be the first one kept. */
  targetIndex?: number;
  /** Keep at most so many messages at the start, and what other options keep at the end. */
  keepFirst?: number;
  /** Where to cut: before messages of humans (the default), also after finished tool loops, or also inside of them. */
  boundary?: 'user' | 'loop' | 'pair';
  /** The side on which to look for a boundary: `older` keeps more than asked for, `newer` less. */
  prefer?: 'older' | 'newer';
  /** Always keep so many messages at the start. */
  pin?: number;
  /** Shorten results to this size, at least 200. */
  resultsMaxBytes?: number;
  /** Do not shorten the last results, 3 by default. */
  keepResults?: number;
}

/** What `fix` did. */
export interface Fixed<Output> {
  /** The repaired input, or the input itself if nothing changed. */
  output: Output;
  changed: boolean;
  /** What was wrong. It is null if there is an error. */
  before: Report | null;
  /** What is still wrong. A provider may refuse the output if it has errors. */
  after: Report | null;
  repairs: AppliedRepair[];
  /** An internal error. The output is the input. */
  error?: ToolguardError;
}

/** What `fixMessages` did. */
export interface FixedMessages<Message> extends Omit<Fixed<never>, 'output'> {
  /** The repaired list, or the list itself if nothing changed. Messages that did not change are the same objects. */
  messages: Message[];
}

/** What `trim` did. */
export interface Trimmed<Output> {
  output: Output;
  changed: boolean;
  /** It is null if there is an error. */
  report: TrimReport | null;
  error?: ToolguardError;
}

/** What is known of a rule or of the error of a provider. */
export interface Explanation {
  /** The rules surely find the cause, the most likely first, or the advice is about this error. Otherwise the rules find causes of similar errors. */
  sure: boolean;
  rules: ExplainedRule[];
  /** What helps if no rule finds the cause, in Markdown. */
  advice: string | null;
}

/** A rule, and the known error that is like the given one. Texts are Markdown. */
export interface ExplainedRule {
  name: Rule;
  category: Category;
  severity: string;
  summary: string;
  what: string;
  why: string;
  repair: string;
  strategies: string[];
  url: string;
  error: string | null;
  said_by: string | null;
}

/** Options for a list of messages. */
export interface MessagesOptions extends FixOptions {
  format: Format;
  /** What becomes of values that JSON cannot hold: an error, the default, or they stay the same objects. */
  opaque?: Opaque;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A loaded engine. All functions are synchronous and keep nothing. */
export class Toolguard {
  /** The version of toolguard. */
  readonly version: string;

  /** @internal */
  constructor(private readonly engine: Engine) {
    this.version = (this.call({ operation: 'names' }, '').answer.value as { version: string }).version;
  }

  /** Checks a transcript. Findings are not an error. */
  check(input: string | Uint8Array, options: CheckOptions = {}): Report {
    return this.call({ ...options, operation: 'check' }, input).answer.before as Report;
  }

  /** Repairs a transcript. Every byte outside of the repairs stays as it was. */
  fix<Input extends string | Uint8Array>(input: Input, options: FixOptions = {}): Fixed<Input extends string ? string : Uint8Array> {
    const { text, ...rest } = this.fixed({ ...options, operation: 'fix' }, input);
    return { output: written(input, text) as never, ...rest };
  }

  /** Repairs a list of messages. */
  fixMessages<Message>(messages: Message[], options: MessagesOptions): FixedMessages<Message> {
    if (!Array.isArray(messages)) throw new ToolguardError('not-transcript', 'not a transcript: expected a list of messages');
    const { opaque = 'error', ...rest } = options ?? {};
    if (opaque !== 'error' && opaque !== 'keep') throw new ToolguardError('option', 'option opaque: expected error or keep');
    if (!rest.format) throw new ToolguardError('option', 'option format is missing: the format of the messages');
    const { json, kept } = pack(messages, opaque);
    const { text, origin, ...done } = this.fixed({ ...rest, operation: 'fix', list: true }, json);
    return { messages: text === undefined ? messages : relist(messages, text, origin, kept), ...done };
  }

  /** Shortens a transcript with one list of messages, without parting calls from their results. */
  trim<Input extends string | Uint8Array>(input: Input, to: TrimTo, options: Omit<CheckOptions, 'edits'> = {}): Trimmed<Input extends string ? string : Uint8Array> {
    const { count, ...limits } = to ?? {};
    if (count !== undefined && typeof count !== 'function') throw new ToolguardError('option', 'option count: expected a function');
    const request = { ...options, operation: 'trim', trim: { ...limits, counts: count !== undefined } };
    try {
      const { answer, text } = this.call(request, input, count);
      return { output: written(input, text) as never, changed: text !== undefined, report: answer.trimmed as TrimReport };
    } catch (e) {
      return { output: input as never, changed: false, report: null, error: internal(e) };
    }
  }

  /** Explains a rule, or finds the rules for the error of a provider. */
  explain(ruleOrError: string): Explanation {
    return this.call({ operation: 'explain' }, ruleOrError).answer.value as Explanation;
  }

  /** The size of the memory of the engine in bytes. It never shrinks. */
  get memory(): number {
    return this.engine.memory;
  }

  private fixed(request: object, input: string | Uint8Array) {
    try {
      const { answer, text } = this.call(request, input);
      const after = (answer.after ?? answer.before) as Report;
      return {
        text, origin: answer.origin, changed: text !== undefined,
        before: answer.before as Report, after, repairs: after.applied?.[0]?.repairs ?? [],
      };
    } catch (e) {
      return { text: undefined, origin: undefined, changed: false, before: null, after: null, repairs: [], error: internal(e) };
    }
  }

  private call(request: object, input: string | Uint8Array, count?: Count): { answer: Answer; text: Uint8Array | undefined } {
    if (typeof input !== 'string' && !(input instanceof Uint8Array)) {
      throw new ToolguardError('option', 'expected a string or a Uint8Array as the input');
    }
    const { answer, text } = this.engine.call(request, typeof input === 'string' ? encoder.encode(input) : input, count);
    if (answer.error) {
      const { code, message, ...more } = answer.error;
      throw new ToolguardError(code, message, { ...more, cause: answer.trimmed });
    }
    return { answer, text };
  }
}

/** Returns an internal error, and throws any other one. */
function internal(e: unknown): ToolguardError {
  if (e instanceof ToolguardError && e.code === 'internal') return e;
  throw e;
}

/** Returns the new text in the form of the input, or the input itself if there is none. */
function written(input: string | Uint8Array, text: Uint8Array | undefined): string | Uint8Array {
  if (text === undefined || typeof input !== 'string') return text ?? input;
  // The engine got a replacement character, so the text outside of the repairs would change.
  const half = input.search(/\p{Surrogate}/u);
  if (half >= 0) throw new ToolguardError('input', `half of a surrogate pair at index ${half}, which UTF-8 cannot hold: write it as an escape`);
  return decoder.decode(text);
}

/** Makes the new list: old messages stay the same objects. */
function relist<Message>(old: Message[], text: Uint8Array, origin: number[] | undefined, kept: Kept): Message[] {
  const fresh = JSON.parse(decoder.decode(text)) as unknown[];
  return fresh.map((m, i) => (origin?.[i] ?? -1) >= 0 ? old[origin![i]!]! : unpack(m, kept) as Message);
}

/** Where the engine is: a compiled module, its bytes, the answer of a server, or a URL. */
export type Source = WebAssembly.Module | BufferSource | Response | URL | string;

/** Options of `load`. */
export interface LoadOptions {
  /** Default: the file in this package. */
  wasm?: Source | Promise<Source>;
}

/** Loads the engine. Each call makes a new one; the default module is compiled once. */
export async function load(options: LoadOptions = {}): Promise<Toolguard> {
  const toolguard = new Toolguard(new Engine(await compile(await options.wasm)));
  // The first call of all takes much longer than the others.
  for (const broken of warm) toolguard.fix(broken, { send: true });
  return toolguard;
}

const warm = [
  '[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"c","input":{}}]},{"role":"user","content":"d"}]',
  '[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"c","arguments":"{}"}}]},{"role":"user","content":"d"}]',
];

/** A name of a format that is the format of request bodies. */
export type { RequestFormat };
