// What the adapters share: how histories are repaired on their way to a provider.

import { ToolguardError, type FixOptions, type Fixed, type MessagesOptions, type Toolguard } from './index.js';

/** Options of an adapter. */
export interface SendingOptions extends Omit<FixOptions, 'format' | 'request' | 'send' | 'name'> {
  /** Is called after a repair. */
  onRepair?: (done: Pick<Fixed<never>, 'before' | 'after' | 'repairs'>) => void;
  /** Is called if a history cannot be checked or repaired, which is then sent as it was, or if `onRepair` throws. */
  onError?: (error: unknown) => void;
}

// Repairs that are made without being asked for, as by the proxy: no word is lost, the provider would
// refuse the request otherwise, and the caller keeps its own copy.
const kept = { 'orphan-tool-result': 'text', 'misplaced-tool-result': 'move', 'result-kind-mismatch': 'retag' } as const;

/** Returns the options of a repair. */
export function sending(options: SendingOptions): FixOptions {
  const { onRepair: _, onError: __, ...fix } = options;
  if (fix.allow !== undefined) return { ...fix, send: true };
  const strategies: Record<string, string> = { ...kept, ...fix.strategies };
  const allowFor = Object.entries(kept).filter(([rule, strategy]) => strategies[rule] === strategy).map(([rule]) => rule);
  return { ...fix, send: true, strategies, allowFor: [...(fix.allowFor ?? []), ...allowFor] as never };
}

/** Throws unless it gets an engine: a forgotten await would send every history as it was. */
export function ready(toolguard: Toolguard): void {
  if (typeof toolguard?.fixMessages !== 'function') throw new ToolguardError('option', 'expected an engine as the first argument: await load()');
}

/** Tells what was repaired. A fault of the listener does not undo the repair. */
export function repaired(done: Parameters<NonNullable<SendingOptions['onRepair']>>[0], options: SendingOptions): void {
  try {
    options.onRepair?.(done);
  } catch (e) {
    options.onError?.(e);
  }
}

/** Repairs messages. If they cannot be repaired, they stay as they are, as do those that did not change. */
export function repair<Message>(toolguard: Toolguard, messages: Message[], format: MessagesOptions['format'], options: SendingOptions): Message[] {
  ready(toolguard);
  let done;
  try {
    done = toolguard.fixMessages(messages, { ...sending(options), format, opaque: 'keep' });
    if (done.error) throw done.error;
  } catch (e) {
    failed(e, options);
    return messages;
  }
  if (done.changed) repaired(done, options);
  return done.messages;
}

/** Reports an error. Those of options are mistakes of the caller. */
export function failed(e: unknown, options: SendingOptions): void {
  if (e instanceof ToolguardError && e.code === 'option') throw e;
  options.onError?.(e);
}
