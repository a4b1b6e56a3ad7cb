/**
 * Repairs the input of models in the OpenAI Agents SDK.
 *
 * @module
 */

import type { Toolguard } from './index.js';
import { repair, type SendingOptions } from './sending.js';

export type { SendingOptions } from './sending.js';

/**
 * The option `callModelInputFilter` of a run or a `Runner`. It is called before each request. Items that
 * did not change are the same objects, and the session of the run keeps its own.
 */
export function callModelInputFilter(toolguard: Toolguard, options: SendingOptions = {}) {
  return <Data extends { input: any[] }>({ modelData }: { modelData: Data }): Data => {
    const input = repair(toolguard, modelData.input, 'openai-responses', options);
    return input === modelData.input ? modelData : { ...modelData, input };
  };
}
