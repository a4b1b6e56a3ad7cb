/**
 * A plugin of opencode that repairs the history of a session before each request.
 *
 * @module
 */

import type { Provider, Toolguard } from './index.js';
import { ready, repair, type SendingOptions } from './sending.js';

export type { SendingOptions } from './sending.js';

/** The list that opencode passes to the hook: its own messages with their parts. */
interface History {
  messages: { info: object; parts: object[] }[];
}

/** The providers of opencode's configuration that have rules of their own. */
const providers: Record<string, Provider> = {
  anthropic: 'anthropic', 'google-vertex-anthropic': 'anthropic', openai: 'openai-responses', azure: 'openai-responses',
  google: 'gemini', 'google-vertex': 'gemini', 'amazon-bedrock': 'bedrock', mistral: 'mistral', deepseek: 'deepseek', groq: 'groq',
  xai: 'xai', cohere: 'cohere', moonshotai: 'kimi', 'moonshotai-cn': 'kimi', zai: 'glm', zhipuai: 'glm', alibaba: 'qwen', 'alibaba-cn': 'qwen',
};

/**
 * Returns a plugin for a file in `.opencode/plugin`. Without the option `provider`, the provider is that of the
 * last message of the user. Messages that did not change stay the same objects, and the session keeps its own.
 */
export function toolguardPlugin(toolguard: Toolguard, options: SendingOptions = {}) {
  ready(toolguard);
  return async () => ({
    'experimental.chat.messages.transform': async (_input: unknown, { messages }: History): Promise<void> => {
      const id = (messages.findLast((m) => 'model' in m.info)?.info as { model?: { providerID?: string } } | undefined)?.model?.providerID ?? '';
      const provider = Object.hasOwn(providers, id) ? { provider: providers[id] } : {};
      // A part holds its call and its result, so there is no doubt about which call a result answers.
      const doubled = options.allow === undefined ? { allowFor: [...(options.allowFor ?? []), 'duplicate-call-id' as const] } : {};
      const repaired = repair(toolguard, messages, 'opencode', { ...provider, ...options, ...doubled });
      // opencode goes on with the list that it passed.
      if (repaired !== messages) messages.splice(0, messages.length, ...repaired);
    },
  });
}
