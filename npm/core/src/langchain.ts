/**
 * Repairs the messages of LangChain before they reach a model.
 *
 * @module
 */

import { mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from '@langchain/core/messages';
import type { Toolguard } from './index.js';
import { failed, repair, type SendingOptions } from './sending.js';

export type { SendingOptions } from './sending.js';

/** Repairs messages. Those that did not change are the same objects. */
export function repairMessages<Message>(toolguard: Toolguard, messages: Message[], options: SendingOptions = {}): Message[] {
  let stored: ReturnType<typeof mapChatMessagesToStoredMessages>;
  try {
    stored = mapChatMessagesToStoredMessages(messages);
  } catch (e) {
    failed(e, options);
    return messages;
  }
  const repaired = repair(toolguard, stored, 'langchain', options);
  if (repaired === stored) return messages;
  try {
    const old = new Map(stored.map((m, i) => [m, messages[i]!]));
    return repaired.map((m) => old.get(m) ?? mapStoredMessagesToChatMessages([m])[0] as Message);
  } catch (e) {
    failed(e, options);
    return messages;
  }
}

/**
 * The hook `wrapModelCall` of a middleware:
 *
 *     createMiddleware({ name: 'toolguard', wrapModelCall: wrapModelCall(toolguard) })
 */
export function wrapModelCall(toolguard: Toolguard, options: SendingOptions = {}) {
  return <Request extends { messages: any[] }, Result>(request: Request, handler: (request: Request) => Result): Result => {
    const messages = repairMessages(toolguard, request.messages, options);
    return handler(messages === request.messages ? request : { ...request, messages });
  };
}
