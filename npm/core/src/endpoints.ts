// The table of the proxy: make docs writes it. A row is the end of a path, in which * stands for any text in
// one segment, and the format of the requests.

import type { RequestFormat } from './index.js';

export const endpoints: readonly (readonly [string, RequestFormat])[] = [
  ["v1/messages", "anthropic"],
  ["v1/messages/count_tokens", "anthropic"],
  ["chat/completions", "openai-chat"],
  ["chat/completions/input_tokens", "openai-chat"],
  ["tokenizers/estimate-token-count", "openai-chat"],
  ["agents/completions", "openai-chat"],
  ["responses", "openai-responses"],
  ["responses/input_tokens", "openai-responses"],
  ["responses/compact", "openai-responses"],
  ["models/*:generateContent", "gemini"],
  ["tunedModels/*:generateContent", "gemini"],
  ["endpoints/*:generateContent", "gemini"],
  ["models/*:streamGenerateContent", "gemini"],
  ["tunedModels/*:streamGenerateContent", "gemini"],
  ["endpoints/*:streamGenerateContent", "gemini"],
  ["models/*:countTokens", "gemini"],
  ["tunedModels/*:countTokens", "gemini"],
  ["endpoints/*:countTokens", "gemini"],
  ["model/*/converse", "bedrock"],
  ["model/*/converse-stream", "bedrock"],
  ["model/*anthropic.*/invoke", "anthropic"],
  ["model/arn:*/invoke", "anthropic"],
  ["model/*anthropic.*/invoke-with-response-stream", "anthropic"],
  ["model/arn:*/invoke-with-response-stream", "anthropic"],
  ["publishers/anthropic/models/*:rawPredict", "anthropic"],
  ["publishers/anthropic/models/*:streamRawPredict", "anthropic"],
];
