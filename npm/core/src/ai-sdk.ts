/**
 * Repairs the messages of the AI SDK before it reads them.
 *
 * @module
 */

import type { Toolguard } from './index.js';
import { repair, type SendingOptions } from './sending.js';

export type { SendingOptions } from './sending.js';

/**
 * Repairs model messages, or messages of a user interface, before they are passed to `generateText`,
 * `streamText` or `convertToModelMessages`. Messages that did not change are the same objects.
 */
export function repairMessages<Message>(toolguard: Toolguard, messages: Message[], options: SendingOptions = {}): Message[] {
  const ui = Array.isArray(messages) && messages.some((m) => Array.isArray((m as { parts?: unknown } | null)?.parts));
  return repair(toolguard, messages, ui ? 'ai-sdk-ui' : 'ai-sdk', options);
}

/** Repairs the messages of each step: the option `prepareStep` of `generateText`, `streamText` and agents. */
export function prepareStep(toolguard: Toolguard, options: SendingOptions = {}) {
  return <Message>({ messages }: { messages: Message[] }): { messages?: Message[] } => {
    const repaired = repairMessages(toolguard, messages, options);
    return repaired === messages ? {} : { messages: repaired };
  };
}

/**
 * A middleware for `wrapLanguageModel`. The AI SDK refuses calls without results before it reaches the
 * model, so use `repairMessages` or `prepareStep` for those. The middleware repairs what the SDK lets
 * pass, such as ids and names that the provider refuses, also in requests that other code makes.
 */
export function toolguardMiddleware(toolguard: Toolguard, options: SendingOptions = {}) {
  return {
    // That of the last version that checks it.
    specificationVersion: 'v3' as const,
    transformParams: async <Params extends { prompt: unknown[] }>({ params }: { params: Params }): Promise<Params> => {
      const prompt = repair(toolguard, params.prompt, 'ai-sdk', options);
      return prompt === params.prompt ? params : { ...params, prompt };
    },
  };
}
