/**
 * Why there is no result.
 *
 * - `option`: an option is wrong
 * - `lossy`: the messages have a value that JSON cannot hold
 * - `not-transcript`: the input is something else
 * - `input`: the input cannot be read
 * - `proof`: a repair or a cut failed its proof
 * - `check-only`: there is something to repair, but not in transcripts of this kind
 * - `no-cut`: no safe cut is as asked for
 * - `not-trimmed`: transcripts of this kind are not trimmed
 * - `internal`: a fault of toolguard
 * - `dead`: the engine ended, and `load` makes a new one
 */
export type Code =
  | 'option' | 'lossy' | 'not-transcript' | 'input' | 'proof' | 'check-only' | 'no-cut' | 'not-trimmed' | 'internal' | 'dead';

/** The error of all functions. */
export class ToolguardError extends Error {
  override readonly name = 'ToolguardError';
  /** The message without what the code says, if there is more to say. */
  readonly reason: string | undefined;
  /** The stack of the engine, for reports of internal errors. It has no text of the input. */
  readonly engineStack: string | undefined;

  constructor(readonly code: Code, message: string, options: { cause?: unknown; reason?: string; stack?: string } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.reason = options.reason;
    this.engineStack = options.stack;
  }
}
